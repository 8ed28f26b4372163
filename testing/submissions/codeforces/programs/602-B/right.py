input()
at, best, start, values = {}, 0, 0, list(map(int, input().split()))
for i, x in enumerate(values):
    # The window may hold x and one neighbour of it.
    start = max(start, at.get(x - 2, -1) + 1, at.get(x + 2, -1) + 1)
    start = max(start, min(at.get(x - 1, -1), at.get(x + 1, -1)) + 1)
    at[x] = i
    best = max(best, i - start + 1)
print(best)
