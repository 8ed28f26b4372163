# expect: failed WA failed_outputs_match
word = input()
print("YES" if word[0] == word[-1] else "NO")
