a = list(map(int, input().split()))
side = a[0] + a[1] + a[2]
print(side * side - 3 * a[0] ** 2 - (a[1] > 1))
