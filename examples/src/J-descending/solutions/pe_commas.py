# expect: failed WA presentation_error
input()
print(sorted(map(int, input().split()), reverse=True))
