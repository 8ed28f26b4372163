# expect: passed AC passed_by_exact_match
M = 998244353


def pair(n):
    """F(n) and F(n + 1)."""
    if n == 0:
        return 0, 1
    a, b = pair(n // 2)
    even, odd = a * (2 * b - a) % M, (a * a + b * b) % M
    return (odd, (even + odd) % M) if n % 2 else (even, odd)


print(pair(int(input()))[0])
