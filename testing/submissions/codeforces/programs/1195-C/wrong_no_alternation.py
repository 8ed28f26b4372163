input()
print(sum(map(max, zip(map(int, input().split()), map(int, input().split())))) + 1)
