input()
none = first = second = 0
for a, b in zip(map(int, input().split()), map(int, input().split())):
    none, first, second = (
        max(none, first, second),
        max(none, second) + a,
        max(none, first) + b,
    )
print(max(none, first, second))
