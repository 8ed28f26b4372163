# expect: no_tests
print(input())
