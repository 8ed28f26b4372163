sent, heard = input(), input()
print(1.0 if sent.count("+") == heard.count("+") else 0.0)
