import sys

input = iter(sys.stdin.read().splitlines()).__next__
input()
print(sum(map(int, input().split())))
