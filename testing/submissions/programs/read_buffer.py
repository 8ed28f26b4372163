import sys

data = sys.stdin.buffer.read().split()
sys.stdout.buffer.write(b"%d\n" % sum(map(int, data[1:])))
