print(6
