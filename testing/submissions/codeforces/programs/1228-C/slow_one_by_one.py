x, n = map(int, input().split())
answer = 1
for k in range(1, 10**8 + n):
    p = 2
    while p <= x and p < 100:
        if x % p == 0 and k % p == 0 and k <= n:
            answer = answer * p % (10**9 + 7)
        p += 1
print(answer)
