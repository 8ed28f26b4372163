for _ in range(int(input())):
    n = int(input())
    a = sorted(map(int, input().split()))
    row = []
    while a:
        row.append(a.pop())
        if a:
            row.append(a.pop(0))
    print(*row[::-1])
