# expect: passed AC passed_by_checker
from math import gcd

s = int(input())
a = next(a for a in range(s // 2, 0, -1) if gcd(a, s) == 1)
print(s - a, a)
