for _ in range(int(input())):
    h, m = map(int, input().split())
    microseconds = 0
    while (60 * h + m) * 60 * 10**6 + microseconds < 24 * 3600 * 10**6:
        microseconds += 1
    print(microseconds // 60 // 10**6)
