input()
print("No" if "11" in input() else "Yes")
