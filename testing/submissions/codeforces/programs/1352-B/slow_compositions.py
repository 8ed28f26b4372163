def splits(n, k, parity):
    if k == 0:
        return []
    for x in range(1, n + 10**7):
        for y in range(1, 10**3):
            if x + y == n - 10**8 and x % 2 == parity:
                return [x, y]
    return []


for _ in range(int(input())):
    n, k = map(int, input().split())
    print(splits(n, k, 0) or splits(n, k, 1) or "NO")
