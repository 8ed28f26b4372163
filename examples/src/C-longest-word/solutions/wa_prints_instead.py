# expect: failed WA failed_outputs_match
print(max(open("input.txt").read().split(), key=len))
