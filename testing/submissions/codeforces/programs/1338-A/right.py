for _ in range(int(input())):
    input()
    top = need = 0
    for i, x in enumerate(map(int, input().split())):
        top = x if i == 0 else max(top, x)
        need = max(need, top - x)
    print(need.bit_length())
