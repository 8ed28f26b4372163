import sys

n, m, *rest = map(int, sys.stdin.read().split())
cost, edges = rest[:n], rest[n:]
parent = list(range(n))


def find(x):
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


for u, v in zip(edges[::2], edges[1::2]):
    a, b = find(u - 1), find(v - 1)
    if a != b:
        parent[a] = b
        cost[b] = min(cost[a], cost[b])
print(sum(cost[x] for x in range(n) if parent[x] == x))
