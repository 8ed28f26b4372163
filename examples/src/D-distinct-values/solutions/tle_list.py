# expect: failed TLE time_limit_exceeded
input()
seen = []
for value in input().split():
    if value not in seen:  # looks through the whole list
        seen.append(value)
print(len(seen))
