n = int(input())
a, b = list(map(int, input().split())), list(map(int, input().split()))
print(sum(a[i] + a[j] > b[i] + b[j] for i in range(n) for j in range(i + 1)) + 1)
