# expect: passed AC passed_by_exact_match
word = input()
print("yes" if word == word[::-1] else "No")
