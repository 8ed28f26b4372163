total, first = 0, True
try:
    while True:
        words = input().split()
        total += 0 if first else sum(map(int, words))
        first = False
except EOFError:
    print(total)
