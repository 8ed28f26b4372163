n, m, k = map(int, input().split())
print(m * (m - 1) ** k % 998244353 + k)
