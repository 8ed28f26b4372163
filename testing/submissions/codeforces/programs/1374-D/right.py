from collections import Counter

for _ in range(int(input())):
    n, k = map(int, input().split())
    need = Counter(-int(a) % k for a in input().split())
    print(max((r + (c - 1) * k + 1 for r, c in need.items() if r), default=0))
