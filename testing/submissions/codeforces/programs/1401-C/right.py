for _ in range(int(input())):
    input()
    a = list(map(int, input().split()))
    low = min(a)
    print("YES" if all(x == y or x % low == 0 for x, y in zip(a, sorted(a))) else "NO")
