import sys

sys.stdin = open("input.txt")
sys.stdout = open("output.txt", "w")
input()
print(sum(map(int, input().split())))
