for _ in range(int(input())):
    print("YES")
    print("a" + input())
