n, p = map(int, input().split())
share = []
for _ in range(n):
    low, high = map(int, input().split())
    share.append((high // p - (low - 1) // p) / (high - low + 1))
print(sum(2000 * (1 - (1 - share[i]) * (1 - share[i - 1])) for i in range(n)))
