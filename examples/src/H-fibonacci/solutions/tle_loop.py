# expect: failed TLE time_limit_exceeded
a, b = 0, 1
for _ in range(int(input())):
    a, b = b, (a + b) % 998244353
print(a)
