import sys


def main():
    input()
    print(sum(map(int, input().split())))


if __name__ == "__main__":
    assert len(sys.argv) == 1
    main()
