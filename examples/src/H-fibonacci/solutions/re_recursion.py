# expect: failed RE runtime_error
def fibonacci(n, a=0, b=1):
    return a % 998244353 if n == 0 else fibonacci(n - 1, b, a + b)


print(fibonacci(int(input())))
