import threading

input()
numbers = list(map(int, input().split()))
parts = [0] * 4


def add(k):
    parts[k] = sum(numbers[k::4])


threads = [threading.Thread(target=add, args=(k,)) for k in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sum(parts))
