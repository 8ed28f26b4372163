# expect: passed AC passed_by_exact_match
import sys

data = sys.stdin.buffer.read().split()
print(len(set(data[1:])))
