text = input()
print(len(text), text[::-1])
