print(sum(map(int, open(0).read().split()[1:])))
