input()
seen = [{0: 1}, {}]
at = pairs = 0
for i, x in enumerate(map(int, input().split()), 1):
    at ^= x
    pairs += seen[i % 2].get(at, 0)
    seen[i % 2][at] = seen[i % 2].get(at, 0) + 1
print(pairs)
