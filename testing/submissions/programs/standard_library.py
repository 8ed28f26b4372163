import array, bisect, collections, decimal, fractions, functools, heapq, itertools  # noqa
import json, math, operator, queue, random, re, statistics, string, typing  # noqa

heap = [3, 1, 2]
heapq.heapify(heap)
print(sum(itertools.accumulate([heapq.heappop(heap), 1, 1])))
