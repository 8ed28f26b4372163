# expect: failed WA failed_checker
print(int(input()) - 1)
