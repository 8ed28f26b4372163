import os
import sys

if os.path.exists("input.txt"):
    sys.stdin = open("input.txt")
    sys.stdout = open("output.txt", "w")
input()
print(sum(map(int, input().split())))
