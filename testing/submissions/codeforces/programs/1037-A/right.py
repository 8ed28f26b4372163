print(int(input()).bit_length())
