# ruff: noqa: E501
"""Programs that use standard input, output and error in every way."""

STREAMS = {
    "input": "print(input(), input().split())\ntry: input()\nexcept EOFError as e: print(repr(e))\n",
    "input with a prompt": "x = input('prompt ')\nprint(x)\n",
    "input replaced": "import sys\ninput = sys.stdin.readline\nprint(repr(input()), repr(input()), repr(input()))\n",
    "read": "import sys\nprint(repr(sys.stdin.read()), repr(sys.stdin.read()))\n",
    "buffer": "import sys\nprint(sys.stdin.buffer.readline(), sys.stdin.buffer.read())\n",
    "mixed": "import sys, os\nprint(repr(input()), os.read(0, 100), sys.stdin.buffer.read(), open(0).read())\n",
    "lines": "import sys\nfor line in sys.stdin: print(repr(line))\n",
    "open(0)": "print(open(0).read().split())\n",
    "open(0) twice": "a = open(0, closefd=False)\nprint(a.readline())\nb = open(0)\nprint(repr(b.read()))\n",
    "os.read": "import os\nprint(os.read(0, 3), os.read(0, 3), os.read(0, 100), os.read(0, 1))\n",
    "fstat": "import os, stat\ns = os.fstat(0)\nprint(s.st_size, oct(s.st_mode), s.st_nlink)\n",
    "fstat of the others": "import os\nfor i in 1, 2:\n    s = os.fstat(i)\n    print(s.st_size, oct(s.st_mode), s.st_nlink)\n",
    "mmap": "import mmap\nm = mmap.mmap(0, 0, prot=mmap.PROT_READ)\nprint(m[:], m.readline())\n",
    "seek": "import sys\nprint(sys.stdin.seekable(), sys.stdin.readline())\nsys.stdin.seek(0)\nprint(sys.stdin.read())\n",
    "tell": "import os, sys\nprint(sys.stdin.buffer.tell(), os.lseek(0, 0, 1))\nsys.stdin.readline()\nprint(os.lseek(0, 0, 1))\n",
    "lseek": "import os\nos.lseek(0, 2, 0)\nprint(input())\n",
    "closed": "import sys\nsys.stdin.close()\ninput()\n",
    "closed descriptor": "import os\nos.close(0)\ninput()\n",
    "None": "import sys\nsys.stdin = None\ninput()\n",
    "deleted": "import sys\ndel sys.stdin\ninput()\n",
    "reconfigure": "import sys\nsys.stdin.reconfigure(encoding='latin-1')\nsys.stdout.reconfigure(line_buffering=True)\nprint(input(), sys.stdin)\n",
    "replaced": "import io, sys\nsys.stdin = io.StringIO('a\\nb\\n')\nprint(input(), input())\n",
    "replaced by bytes": "import io, os, sys\nsys.stdin = io.BytesIO(os.read(0, 1000))\nprint(sys.stdin.readline())\n",
    "fileinput": "import fileinput\nprint([l for l in fileinput.input()])\n",
    "properties": """
import sys
for s in sys.stdin, sys.stdout, sys.stderr, sys.__stdin__, sys.__stdout__, sys.__stderr__:
    print(s, s.line_buffering, s.write_through, s.errors, s.newlines, s.isatty(), s.fileno(), s.readable(), s.writable())
    print(type(s.buffer), type(s.buffer.raw), s.buffer.raw, s.buffer.raw.closefd, s.closed)
print(sys.stdin is sys.__stdin__, sys.stdout is sys.__stdout__)
""",
    "vars of streams": "import sys\nfor s in sys.stdin, sys.stdout, sys.stderr: print(vars(s), s.mode, s.buffer.mode if hasattr(s.buffer, 'mode') else 0)\n",
    "not UTF-8": ("print(ascii(input()))\n", {"stdin": b"a\xff\xfe\n"}),
    "not UTF-8 as bytes": (
        "import sys\nprint(sys.stdin.buffer.read())\n",
        {"stdin": b"a\xff\xfe\n"},
    ),
    "carriage returns": ("import sys\nprint(ascii(sys.stdin.read()))\n", {"stdin": b"a\r\nb\rc"}),
    "null bytes": ("print(ascii(input()))\n", {"stdin": b"a\0b\n"}),
    "byte order mark": ("print(ascii(input()))\n", {"stdin": b"\xef\xbb\xbfa\n"}),
    "empty": ("input()\n", {"stdin": b""}),
    "empty read": (
        "import sys\nprint(repr(sys.stdin.read()), sys.stdin.readlines())\n",
        {"stdin": b""},
    ),
    "large": (
        "import sys\nx = sys.stdin.read()\nprint(len(x), sum(map(int, x.split())))\n",
        {"stdin": b"123 456\n" * 100000},
    ),
    "large lines": (
        "n = int(input())\nprint(sum(int(input()) for _ in range(n)))\n",
        {"stdin": b"20000\n" + b"7\n" * 20000},
    ),
    "not flushed": "print('a', end='')\nimport sys\nsys.stdout.write('b')\nsys.stdout.buffer.write(b'c')\n",
    "order of streams": "import sys, os\nprint('a')\nos.write(1, b'b\\n')\nprint('c', file=sys.stderr)\nprint('d', flush=True)\n",
    "two million bytes": "print('x' * 99 + '\\n', end='')\nfor i in range(20000): print('y' * 99)\n",
    "a million lines": "for i in range(200000): print(i)\n",
    "binary out": "import sys\nsys.stdout.buffer.write(bytes(range(256)) * 5000)\n",
    "surrogates out": "print('\\ud800')\n",
    "unicode out": "print('\\u20ac \\U0001f600 \\xe9')\nimport sys\nprint('\\ud800', file=sys.stderr)\n",
    "stderr": "import sys\nsys.stderr.write('a' * 100000)\nsys.stderr.buffer.write(b'b')\n",
    "open('/dev/stdin')": "print(open('/dev/stdin').read())\n",
    "open('/dev/stdout')": "print('a')\nopen('/dev/stdout', 'a').write('b')\n",
    "dup": "import os\nf = os.dup(1)\nos.write(f, b'dup\\n')\nos.dup2(os.open('o', os.O_CREAT | os.O_WRONLY), 1)\nprint('x')\n",
    "writelines and print options": "import sys\nsys.stdout.writelines(['a', 'b'])\nprint(1, 2, sep='-', end='!')\n",
    "select": "import select, sys\nprint([len(x) for x in select.select([sys.stdin], [sys.stdout], [], 0)])\n",
    "ctypes printf": """
try:
    import ctypes
    ctypes.CDLL(None).puts(b"from C")
except Exception as e:
    print(e)
print("python")
""",
    "faulthandler dump": "import faulthandler, sys\nfaulthandler.dump_traceback(all_threads=False)\n",
    "segmentation fault": "import ctypes\nprint('x', flush=True)\nctypes.string_at(0)\n",
}
