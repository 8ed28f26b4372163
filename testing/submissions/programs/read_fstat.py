import io
import os
import sys

# The fast reader of many contest templates: trusts the size of standard input.
sys.stdin = io.StringIO(os.read(0, os.fstat(0).st_size).decode())
input = sys.stdin.readline
input()
print(sum(map(int, input().split())))
