import os
import tempfile

with open("work.txt", "w") as out:
    out.write("3")
with tempfile.TemporaryFile("w+") as other:
    other.write("3")
    other.seek(0)
    print(int(open("work.txt").read()) + int(other.read()))
os.remove("work.txt")
