for _ in range(int(input())):
    n, k = map(int, input().split())
    print(max(-int(a) % k for a in input().split()) + 1)
