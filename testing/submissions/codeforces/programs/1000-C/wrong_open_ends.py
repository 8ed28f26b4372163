import sys

n, *rest = map(int, sys.stdin.read().split())
events = sorted([(x, 1) for x in rest[::2]] + [(x, -1) for x in rest[1::2]])
count = [0] * (n + 1)
depth = before = 0
for at, change in events:
    count[depth] += at - before
    before = at
    depth += change
print(*count[1:])
