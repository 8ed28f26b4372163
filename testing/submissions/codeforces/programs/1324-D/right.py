from bisect import bisect_right

n = int(input())
d = sorted(a - b for a, b in zip(map(int, input().split()), map(int, input().split())))
print(sum(n - max(i + 1, bisect_right(d, -x)) for i, x in enumerate(d)))
