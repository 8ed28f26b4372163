print("NO" if sum(int(input()) for _ in range(int(input()))) % 360 else "YES")
