# expect: failed TLE time_limit_exceeded
import time

n = int(input())
a, b = 0, 1
for i in range(n):
    if i > 100:
        time.sleep(1000)  # uses no CPU time at all; wall time stops it
    a, b = b, (a + b) % 998244353
print(a)
