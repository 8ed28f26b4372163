n = int(input())
row = input()
good = set()
for mask in range(1 << 60):
    if "11" not in bin(mask) and "000" not in bin(mask):
        good.add(mask % 1000003)
print("Yes" if int(row, 2) in good else "No")
