# expect: unsupported SK unsupported_interactive
low, high = 1, 1000
answer = ""
while answer != "equal":
    guess = (low + high) // 2
    print(guess, flush=True)
    answer = input()
    if answer == "less":
        high = guess - 1
    else:
        low = guess + 1
