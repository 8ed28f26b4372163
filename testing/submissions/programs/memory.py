mb = int(input())
room = bytearray(mb << 20)
for i in range(0, len(room), 4096):
    room[i] = 1
print(room[0] + room[4096])
