from itertools import groupby

input()
print(max(len(list(g)) for _, g in groupby(input().split())))
