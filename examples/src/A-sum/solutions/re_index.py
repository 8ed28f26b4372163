# expect: failed RE runtime_error
n = int(input())
numbers = list(map(int, input().split()))
print(sum(numbers[i] for i in range(n + 1)))
