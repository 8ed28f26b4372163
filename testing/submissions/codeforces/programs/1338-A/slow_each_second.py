for _ in range(int(input())):
    input()
    a = list(map(int, input().split()))
    second = 0
    while second < 10**9 and min(a) < 10**10:
        a = [x + 1 for x in a]
        second += 1
    print(second)
