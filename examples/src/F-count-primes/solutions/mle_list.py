# expect: failed MLE memory_limit_exceeded
n = int(input())
sieve = [True] * (n + 1)  # eight bytes a number
for p in range(2, int(n**0.5) + 1):
    if sieve[p]:
        sieve[p * p :: p] = [False] * len(range(p * p, n + 1, p))
print(sum(sieve[2:]))
