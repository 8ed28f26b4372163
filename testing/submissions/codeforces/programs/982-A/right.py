n = int(input())
row = "0" + input() + "0"
print("No" if "11" in row or "000" in row else "Yes")
