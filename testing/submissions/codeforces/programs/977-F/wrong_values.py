input()
a = list(map(int, input().split()))
best = {}
for x in a:
    best[x] = best.get(x - 1, 0) + 1
end = max(best, key=best.get)
print(best[end])
print(*range(end - best[end] + 1, end + 1))
