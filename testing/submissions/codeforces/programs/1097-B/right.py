reachable = {0}
for _ in range(int(input())):
    a = int(input())
    reachable = {(x + s * a) % 360 for x in reachable for s in (1, -1)}
print("YES" if 0 in reachable else "NO")
