import sys

lines = sys.stdin.readlines()
print(sum(int(word) for word in lines[1].split()))
