n, w = map(int, input().split())
cups = sorted(map(int, input().split()))
print(3 * n * min(cups[0], cups[n] / 2) + 1)
