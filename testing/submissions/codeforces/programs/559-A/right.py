a = list(map(int, input().split()))
side = a[0] + a[1] + a[2]
print(side * side - a[0] ** 2 - a[2] ** 2 - a[4] ** 2)
