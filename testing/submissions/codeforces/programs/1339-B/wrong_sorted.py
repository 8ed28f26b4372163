for _ in range(int(input())):
    input()
    print(*sorted(map(int, input().split())))
