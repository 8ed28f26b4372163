for _ in range(int(input())):
    n, x, y = map(int, input().split())
    step = next(d for d in range(1, y) if (y - x) % d == 0 and (y - x) // d < n)
    first = y - step * min(n - 1, (y - 1) // step)
    print(*range(first, first + n * step, step))
