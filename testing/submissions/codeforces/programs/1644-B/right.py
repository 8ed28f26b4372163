for _ in range(int(input())):
    n = int(input())
    a = list(range(n, 0, -1))
    print(*a)
    for i in range(n - 1, 0, -1):
        a[i], a[i - 1] = a[i - 1], a[i]
        print(*a)
