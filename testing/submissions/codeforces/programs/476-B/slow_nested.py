sent, heard = input(), input()


def chance(i, at, goal):
    if i == len(heard) + 24:  # imagines two dozen question marks more
        return float(at == goal)
    mark = heard[i] if i < len(heard) else "0"
    if mark == "?":
        return (chance(i + 1, at + 1, goal) + chance(i + 1, at - 1, goal)) / 2
    if mark == "0":
        return (chance(i + 1, at, goal) + chance(i + 1, at, goal)) / 2
    return chance(i + 1, at + (1 if mark == "+" else -1), goal)


print(chance(0, 0, sent.count("+") - sent.count("-")))
