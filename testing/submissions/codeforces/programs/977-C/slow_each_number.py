n, k = map(int, input().split())
a = list(map(int, input().split()))
answer = -1
for x in range(10**9, 0, -1):  # from the top
    if sum(y <= x for y in a) == k:
        answer = x
print(answer)
