with open("/dev/stdin") as text:
    print(sum(map(int, text.read().split()[1:])))
