for _ in range(int(input())):
    input()
    groups = size = 0
    for e in sorted(map(int, input().split())):
        size += 1
        if size >= e:
            groups, size = groups + 1, 0
    print(groups)
