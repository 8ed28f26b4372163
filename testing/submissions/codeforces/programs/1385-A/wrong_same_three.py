for _ in range(int(input())):
    x = list(map(int, input().split()))
    print("YES")
    print(*x)
