import mmap

with mmap.mmap(0, 0, prot=mmap.PROT_READ) as text:
    print(sum(map(int, text[:].split()[1:])))
