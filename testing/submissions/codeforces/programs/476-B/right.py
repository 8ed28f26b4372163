from math import comb

sent, heard = input(), input()
goal = sent.count("+") - sent.count("-")
have = heard.count("+") - heard.count("-")
q = heard.count("?")
up, odd = divmod(goal - have + q, 2)
print(comb(q, up) / 2**q if not odd and 0 <= up <= q else 0.0)
