import sys
from bisect import bisect_left

n, *rest = map(int, sys.stdin.read().split())
beacons = sorted(dict(zip(rest[::2], rest[1::2])).items())
places = [a for a, _ in beacons]
left = []
for i, (a, b) in enumerate(beacons):
    j = bisect_left(places, a - b)
    left.append(1 + (left[j - 1] if j else 0))
print(n - max(left))
