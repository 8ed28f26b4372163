a, b, c, d = sorted(map(int, input().split()))
print("TRIANGLE" if b + c > d else "SEGMENT")
