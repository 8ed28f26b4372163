import fileinput

lines = list(fileinput.input())
print(sum(map(int, lines[1].split())))
