print(int(input()).bit_length() + 1)
