# -*- coding: latin-1 -*-
input()
print(sum(map(int, input().split())))
