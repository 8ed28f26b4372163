room = []
while True:
    room.append([0] * 100000)
