import os

data = b""
while block := os.read(0, 65536):
    data += block
os.write(1, str(sum(map(int, data.split()[1:]))).encode())
