for _ in range(int(input())):
    n = int(input())
    for _ in range(n):
        print(*range(1, n + 1))
