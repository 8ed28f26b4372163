for _ in range(int(input())):
    n = int(input())
    print(n // max(map(int, input().split())) - 1)
