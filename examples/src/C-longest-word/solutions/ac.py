# expect: passed AC passed_by_exact_match
with open("input.txt") as text, open("output.txt", "w") as answer:
    answer.write(max(text.read().split(), key=len))
