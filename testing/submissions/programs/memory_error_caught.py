try:
    room = bytearray(1 << 45)
except MemoryError:
    print(6)
