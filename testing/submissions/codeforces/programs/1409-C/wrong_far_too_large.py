for _ in range(int(input())):
    n, x, y = map(int, input().split())
    print(*range(x, x + n * (y - x), y - x))
