# expect: passed AC passed_by_exact_match
input()
print(sum(map(int, input().split())))
