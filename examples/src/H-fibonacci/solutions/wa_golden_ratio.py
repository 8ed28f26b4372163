# expect: failed WA failed_outputs_match
n = min(int(input()), 1000)
print(round(((1 + 5**0.5) / 2) ** n / 5**0.5) % 998244353)
