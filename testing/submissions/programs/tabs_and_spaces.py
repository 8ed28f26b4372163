if True:
        print(6)
	print(7)
