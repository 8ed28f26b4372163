for _ in range(int(input())):
    s = input()
    for t in ("a" + s, s + "a"):
        if t != t[::-1]:
            print("YES")
            print(t)
            break
    else:
        print("NO")
