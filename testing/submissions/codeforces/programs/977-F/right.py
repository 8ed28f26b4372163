input()
a = list(map(int, input().split()))
best = {}
for x in a:
    best[x] = best.get(x - 1, 0) + 1
end = max(best, key=best.get)
want = end - best[end] + 1
print(best[end])
answer = []
for i, x in enumerate(a, 1):
    if x == want and want <= end:
        answer.append(i)
        want += 1
print(*answer)
