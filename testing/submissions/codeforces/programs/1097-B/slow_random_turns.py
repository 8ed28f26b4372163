import random

turns = [int(input()) for _ in range(int(input()))]
found = 0
while found < 10**9:  # one hit is not proof enough
    found += sum(random.choice((-1, 1)) * a for a in turns) % 360 == 0
print("YES")
