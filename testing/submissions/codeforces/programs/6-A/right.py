from itertools import combinations

sticks = sorted(map(int, input().split()))
best = 0
for a, b, c in combinations(sticks, 3):
    best = max(best, 2 if a + b > c else 1 if a + b == c else 0)
print(("IMPOSSIBLE", "SEGMENT", "TRIANGLE")[best])
