# expect: failed WA failed_outputs_match
best = ""
for word in open("input.txt").read().split():
    if len(word) >= len(best):
        best = word
open("output.txt", "w").write(best)
