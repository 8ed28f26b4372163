for _ in range(int(input())):
    i = int(input()) - 1
    a = list(map(int, input().split()))
    while i > 0 and a[i - 1] >= a[i]:
        i -= 1
    while i > 0 and a[i - 1] <= a[i]:
        i -= 1
    print(i)
