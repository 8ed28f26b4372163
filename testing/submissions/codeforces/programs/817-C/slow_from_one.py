n, s = map(int, input().split())
count = 0
for x in range(1, 10**9):
    count += x <= n and x - sum(map(int, str(x))) >= s
print(count)
