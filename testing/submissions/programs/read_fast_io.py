import atexit
import io
import os

# Everything at once in, everything at once out when the interpreter ends.
source = io.BytesIO(os.read(0, 1 << 25))
out = io.StringIO()
input = lambda: source.readline().decode()
atexit.register(lambda: os.write(1, out.getvalue().encode()))
input()
print(sum(map(int, input().split())), file=out)
