for _ in range(int(input())):
    x, y, z = sorted(map(int, input().split()))
    if y == z:
        print("YES")
        print(x, x, z)
    else:
        print("NO")
