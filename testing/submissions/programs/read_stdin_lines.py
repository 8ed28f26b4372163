import sys

total = 0
for i, line in enumerate(sys.stdin):
    if i:
        total += sum(map(int, line.split()))
print(total)
