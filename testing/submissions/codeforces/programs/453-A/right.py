m, n = map(int, input().split())
print(m - sum((k / m) ** n for k in range(1, m)))
