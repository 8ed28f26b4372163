for _ in range(int(input())):
    n, k = map(int, input().split())
    for unit in (1, 2):
        rest = n - unit * (k - 1)
        if rest > 0 and rest % 2 == unit % 2:
            print("YES")
            print(*[unit] * (k - 1), rest)
            break
    else:
        print("NO")
