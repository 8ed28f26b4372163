n, m = map(int, input().split())
print(n - 2 * m, n - m)
