input()
parity = [int(x) % 2 for x in input().split()]
print(parity.index(1 if sum(parity) == 1 else 0) + 1)
