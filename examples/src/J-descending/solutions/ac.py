# expect: passed AC passed_by_exact_match
input()
print(*sorted(map(int, input().split()), reverse=True))
