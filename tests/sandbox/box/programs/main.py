import os
import sys


def deep(n):
    return 1 + deep(n - 1) if n else 0


sys.setrecursionlimit(200000)
words = sys.stdin.read().split()
what = words[0]
if what == "hello":
    print("hello")
elif what == "sum":
    print(sum(map(int, words[2:])))
elif what == "crash":
    os.abort()
elif what == "error":
    print([][1])
elif what == "memory":
    kept = []
    while True:
        kept.append(bytearray(b"x") * (1 << 20))
elif what == "spin":
    while True:
        pass
elif what == "deep":
    print(deep(50000))
