"""Ways to run and judge a case other than one plain run of the program."""
