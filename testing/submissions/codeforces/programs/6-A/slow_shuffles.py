import random

a = list(map(int, input().split()))
seen = set()
for _ in range(10**9):  # tries orders without end, as if chance could miss one
    random.shuffle(a)
    seen.add(tuple(a))
print("TRIANGLE" if any(x + y > z > y > x for x, y, z, _ in seen) else "SEGMENT")
