for _ in range(int(input())):
    n, k = map(int, input().split())
    rest = n - (k - 1)
    print("YES\n" + " ".join(["1"] * (k - 1) + [str(rest)]) if rest > 0 and rest % 2 else "NO")
