from itertools import accumulate

input()
done = list(accumulate(map(int, input().split())))
print(next(i for i, x in enumerate(done, 1) if 2 * x >= done[-1]))
