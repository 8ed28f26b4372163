import sys

n, *rest = map(int, sys.stdin.read().split())
count = [0] * (n + 1)
for x in range(10**18):
    count[sum(l <= x <= r for l, r in zip(rest[::2], rest[1::2]))] += 1
print(*count[1:])
