print(6)
try:
    exit()
except:
    print(7)
