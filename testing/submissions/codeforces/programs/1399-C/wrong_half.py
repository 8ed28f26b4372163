for _ in range(int(input())):
    print(int(input()) // 2)
    input()
