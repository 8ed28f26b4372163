M = 10**9 + 7
x, n = map(int, input().split())
primes, p = [], 2
while p * p <= x:
    if x % p == 0:
        primes.append(p)
        while x % p == 0:
            x //= p
    p += 1
if x > 1:
    primes.append(x)
answer = 1
for p in primes:
    power = p
    while power <= n:
        answer = answer * pow(p, n // power, M) % M
        power *= p
    # floor(n / p) + floor(n / p^2) + … is how often p divides n!
    # and each multiple of p^k has p^k as its largest power only once
print(answer)
