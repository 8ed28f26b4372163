n, k = map(int, input().split())
a = sorted(map(int, input().split()))
x = a[k - 1] if k else 1
print(x if sum(y <= x for y in a) == k else -1)
