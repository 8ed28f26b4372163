import sys
import threading

sys.setrecursionlimit(10**6)
threading.stack_size(1 << 27)


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


def main():
    print(depth(100000))


thread = threading.Thread(target=main)
thread.start()
thread.join()
