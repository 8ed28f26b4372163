import sys

input = sys.stdin.readline
input()
sys.stdout.write(str(sum(map(int, input().split()))))
