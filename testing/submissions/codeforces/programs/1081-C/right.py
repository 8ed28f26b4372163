from math import comb

n, m, k = map(int, input().split())
print(m * comb(n - 1, k) * (m - 1) ** k % 998244353)
