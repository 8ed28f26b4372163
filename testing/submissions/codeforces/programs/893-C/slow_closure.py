import sys

n, m, *rest = map(int, sys.stdin.read().split())
cost, edges = rest[:n], rest[n:]
for _ in range(10**8):  # passes the rumour on without noticing that all know
    for u, v in zip(edges[::2] or [1], edges[1::2] or [1]):
        cost[u - 1] = cost[v - 1] = min(cost[u - 1], cost[v - 1])
print(sum(set(cost)))
