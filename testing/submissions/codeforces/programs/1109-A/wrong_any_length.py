input()
seen, at, pairs = {0: 1}, 0, 0
for x in map(int, input().split()):
    at ^= x
    pairs += seen.get(at, 0) + 1
    seen[at] = seen.get(at, 0) + 1
print(pairs)
