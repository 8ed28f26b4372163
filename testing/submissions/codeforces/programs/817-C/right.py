n, s = map(int, input().split())
low, high = 0, n + 1  # the first number that is really big, or n + 1
while low < high:
    middle = (low + high) // 2
    if middle - sum(map(int, str(middle))) >= s:
        high = middle
    else:
        low = middle + 1
print(max(0, n - low + 1))
