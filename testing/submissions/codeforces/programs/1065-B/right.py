n, m = map(int, input().split())
used = 0
while used * (used - 1) // 2 < m:
    used += 1
print(max(0, n - 2 * m), n - used)
