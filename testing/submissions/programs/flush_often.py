for i in range(5000):
    print(i, flush=True)
