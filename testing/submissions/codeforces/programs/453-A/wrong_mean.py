m, n = map(int, input().split())
print((m + 1) / 2)
