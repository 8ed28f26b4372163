from collections import Counter

for _ in range(int(input())):
    input()
    count = Counter(map(int, input().split()))
    print(max(sum(min(c, count[s - w]) for w, c in count.items()) // 2 for s in range(2, 201)))
