# expect: failed RE runtime_error
print(max(open("words.txt").read().split(), key=len))
