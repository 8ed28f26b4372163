# ruff: noqa: E501
"""Programs in whose objects something happens when the interpreter ends."""

SPEAKER = """
class A:
    def __init__(self, name): self.name = name
    def __del__(self): print("del", self.name)
"""

FINALIZATION = {
    "in a global": SPEAKER + "a = A('global')\n",
    "in a cycle": SPEAKER + "a = A('cycle')\na.me = a\n",
    "in a lost cycle": SPEAKER + "a = A('lost')\na.me = a\ndel a\n",
    "in a function's default": SPEAKER + "def f(x=A('default')): return x\n",
    "in a closure": SPEAKER + "def f():\n    a = A('closure')\n    return lambda: a\ng = f()\n",
    "in a class": SPEAKER + "class B:\n    a = A('class')\n    b = lambda self: B\n",
    "in builtins": SPEAKER + "import builtins\nbuiltins.a = A('builtins')\n",
    "in sys": SPEAKER + "import sys\nsys.a = A('sys')\n",
    "in a library module": SPEAKER
    + "import heapq, json\nheapq.a = A('heapq')\njson.a = A('json')\n",
    "in sys.modules": SPEAKER + "import sys\nsys.modules['x'] = A('module')\n",
    "in os.environ": SPEAKER + "import os\nos.a = A('os')\n",
    "several": SPEAKER + "b = A('b')\na = A('a')\n_c = A('_c')\n",
    "in the traceback": SPEAKER + "def f():\n    a = A('frame')\n    1 / 0\nf()\n",
    "in the exit code": SPEAKER + "raise SystemExit(A('code'))\n",
    "sys.exit with a global": SPEAKER + "import sys\na = A('global')\nsys.exit(3)\n",
    "sys.exit in a function": SPEAKER
    + "import sys\ndef f():\n    a = A('frame')\n    sys.exit(3)\nf()\n",
    "exit with a text and a global": SPEAKER + "a = A('global')\nexit('text')\n",
    "excepthook exits": SPEAKER
    + "import sys\na = A('g')\nsys.excepthook = lambda *x: sys.exit(4)\n1 / 0\n",
    "KeyboardInterrupt": SPEAKER + "a = A('global')\nraise KeyboardInterrupt\n",
    "own KeyboardInterrupt": SPEAKER
    + "class K(KeyboardInterrupt): pass\na = A('global')\nraise K('x')\n",
    "what __del__ sees": """
import sys, heapq
x = 5
class A:
    def __del__(self):
        print(x, heapq, sys and sys.modules.get("heapq"), __name__, sys.stdout, sys.is_finalizing())
a = A()
""",
    "__del__ with slots": """
class A:
    __slots__ = ()
    def __del__(self): print("del")
class I(int):
    __slots__ = ()
    def __del__(self): print("del", int(self))
class T(tuple):
    __slots__ = ()
    def __del__(self): print("del", len(self))
a, b, c = A(), I(3), T()
""",
    "__del__ of a metaclass": """
class M(type):
    def __del__(cls): print("del", cls.__name__)
class A(metaclass=M): pass
""",
    "__del__ given later": "class A: pass\na = A()\nA.__del__ = lambda self: print('del')\n",
    "__del__ in a base": "class B:\n    def __del__(self): print('B')\nclass A(B): pass\na = A()\n",
    "__del__ of an exception": "class E(Exception):\n    def __del__(self): print('del')\ne = E()\nraise e\n",
    "__del__ raises": "class A:\n    def __del__(self): 1 / 0\na = A()\n",
    "__del__ exits": "import sys\nclass A:\n    def __del__(self): sys.exit(3)\na = A()\n",
    "__del__ leaves": "import os\nclass A:\n    def __del__(self): os._exit(3)\na = A()\nprint(1)\n",
    "__del__ imports": "class A:\n    def __del__(self):\n        import heapq; print(heapq.heappush)\na = A()\n",
    "__del__ opens": "class A:\n    def __del__(self):\n        open('x', 'w').write('1'); print('ok')\na = A()\n",
    "__del__ asks for input": "class A:\n    def __del__(self): print(input())\na = A()\n",
    "many objects and one __del__": SPEAKER + "x = [[i] for i in range(150000)]\na = A('one')\n",
    "weakref callback": """
import weakref
class A: pass
a = A()
r = weakref.ref(a, lambda r: print("callback"))
""",
    "weakref callback of a builtin": "import weakref\nclass A: pass\na = A()\nr = weakref.ref(a, print)\n",
    "weakref callback in a module": """
import weakref, sys
class A: pass
a = A()
sys.r = weakref.ref(a, lambda r, print=print: print("callback"))
""",
    "weakref subclass": """
import weakref
class R(weakref.ref):
    def __init__(self, x, c): super().__init__(x, c)
class A: pass
a = A()
r = R(a, lambda r: print("callback"))
""",
    "weak method": """
import weakref
class A:
    def f(self): pass
a = A()
r = weakref.WeakMethod(a.f, lambda r: print("callback"))
""",
    "weak proxy": """
import weakref
class A: pass
a = A()
r = weakref.proxy(a, lambda r: print("callback"))
""",
    "weak proxy of a function": """
import weakref, sys
def f(): pass
sys.r = weakref.proxy(f, lambda r, print=print: print("callback"))
""",
    "finalize": """
import weakref
class A: pass
a = A()
weakref.finalize(a, print, "finalize")
f = weakref.finalize(a, print, "not at exit")
f.atexit = False
""",
    "weak containers": """
import weakref
class A: pass
a = A()
d = weakref.WeakKeyDictionary({a: 1}); v = weakref.WeakValueDictionary(x=a); s = weakref.WeakSet([a])
print(len(d), len(v), len(s))
""",
    "suspended generator": """
def g():
    try: yield 1
    finally: print("finally")
x = g()
next(x)
""",
    "suspended generator in a with": """
import contextlib
@contextlib.contextmanager
def c():
    print("in")
    try: yield
    finally: print("out")
def g():
    with c(): yield 1
x = g(); next(x)
""",
    "generator that is not started": "def g():\n    try: yield 1\n    finally: print('finally')\nx = g()\n",
    "generator that yields in finally": "def g():\n    try: yield 1\n    finally: yield 2\nx = g(); next(x)\n",
    "generator in the traceback": """
def g():
    try: yield 1
    finally: print("finally")
def f():
    x = g()
    next(x)
    raise ValueError
f()
""",
    "coroutine that was not awaited": "async def f(): pass\nx = f()\n",
    "coroutine that was lost": "async def f(): pass\nf()\nprint(1)\n",
    "suspended coroutine": """
class W:
    def __await__(self): yield 1
async def f():
    try: await W()
    finally: print("finally")
x = f(); x.send(None)
""",
    "async generator": """
async def g():
    try: yield 1
    finally: print("finally")
x = g()
try: x.asend(None).send(None)
except StopIteration as e: print(e.value)
y = x.asend(None)
""",
    "asyncio": """
import asyncio
async def work(n):
    await asyncio.sleep(0.001)
    return n * 2
async def main():
    print(await asyncio.gather(*(work(i) for i in range(3))))
    asyncio.get_running_loop().create_task(work(3))
asyncio.run(main())
""",
    "asyncio with a pending task": """
import asyncio
async def work():
    try: await asyncio.sleep(100)
    finally: print("finally")
loop = asyncio.new_event_loop()
t = loop.create_task(work())
loop.run_until_complete(asyncio.sleep(0))
print("end")
""",
    "asyncio exception nobody retrieved": """
import asyncio
async def work(): raise ValueError("x")
async def main():
    asyncio.create_task(work())
    await asyncio.sleep(0.01)
asyncio.run(main())
""",
    "unclosed file": ("f = open('out.txt', 'w')\nf.write('text')\n", {"collect": ("out.txt",)}),
    "unclosed file in a frame": (
        "def f():\n    g = open('out.txt', 'w')\n    g.write('x')\n    1 / 0\nf()\n",
        {"collect": ("out.txt",)},
    ),
    "unclosed appending": (
        "open('o', 'w').write('a')\nf = open('o', 'a')\nf.write('b')\n",
        {"collect": ("o",)},
    ),
    "unclosed binary": (
        "f = open('o', 'wb')\nf.write(b'a')\ng = open('p', 'r+b') if 0 else 1\n",
        {"collect": ("o",)},
    ),
    "unclosed update": (
        "open('o', 'w').write('abc')\nf = open('o', 'r+')\nf.write('X')\n",
        {"collect": ("o",)},
    ),
    "unclosed gzip": (
        "import gzip\nf = gzip.GzipFile('o', 'wb', mtime=0)\nf.write(b'a' * 1000)\n",
        {"collect": ("o",)},
    ),
    "unclosed bz2": (
        "import bz2\nf = bz2.open('o', 'wb')\nf.write(b'a' * 1000)\n",
        {"collect": ("o",)},
    ),
    "unclosed lzma": (
        "import lzma\nf = lzma.open('o', 'wb')\nf.write(b'a' * 1000)\n",
        {"collect": ("o",)},
    ),
    "unclosed zip": (
        "import zipfile\nf = zipfile.ZipFile('o', 'w')\nf.writestr(zipfile.ZipInfo('a'), 'text')\n",
        {"collect": ("o",)},
    ),
    "unclosed tar": (
        "import tarfile\nf = tarfile.open('o', 'w')\nf.addfile(tarfile.TarInfo('a'))\n",
        {"collect": ("o",)},
    ),
    "unclosed shelve": """
import shelve, os
d = shelve.open("o", writeback=True)
d["a"] = [1]
d["a"].append(2)
print(1)
""",
    "unclosed dbm": "import dbm.dumb\nd = dbm.dumb.open('o', 'n')\nd['a'] = 'b'\nprint(d['a'])\n",
    "unclosed sqlite": """
import sqlite3
c = sqlite3.connect(":memory:")
c.execute("create table t (x)")
c.execute("insert into t values (1)")
print(list(c.execute("select * from t")))
""",
    "temporary files": """
import tempfile, os
f = tempfile.NamedTemporaryFile(); d = tempfile.TemporaryDirectory()
f.write(b"x")
print(os.path.exists(f.name), os.path.isdir(d.name))
""",
    "text over bytes": "import io\nb = io.BytesIO()\nt = io.TextIOWrapper(b)\nt.write('x')\nprint(b.getvalue())\n",
    "text over a class of the program": """
import io
class B:
    readable = writable = seekable = lambda self: True
    closed = False
    def write(self, x): print("write", bytes(x)); return len(x)
    def flush(self): print("flush")
    def close(self): print("close")
    def tell(self): return 0
t = io.TextIOWrapper(B(), "utf-8")
t.write("x")
""",
    "raw class of the program": """
import io
class R(io.RawIOBase):
    def readable(self): return True
    def readinto(self, b): return 0
    def close(self):
        if not self.closed: print("close")
        super().close()
r = io.BufferedReader(R())
s = R()
""",
    "IOBase subclass": """
import io, os, sys
class FastIO(io.IOBase):
    newlines = 0
    def __init__(self, file):
        self._fd = file.fileno()
        self.buffer = io.BytesIO()
        self.writable = "x" in file.mode or "r" not in file.mode
        self.write = self.buffer.write if self.writable else None
    def flush(self):
        if self.writable:
            os.write(self._fd, self.buffer.getvalue())
            self.buffer.truncate(0), self.buffer.seek(0)
class IOWrapper(io.IOBase):
    def __init__(self, file):
        self.buffer = FastIO(file)
        self.flush = self.buffer.flush
        self.writable = self.buffer.writable
        self.write = lambda s: self.buffer.write(s.encode("ascii"))
sys.stdout = IOWrapper(sys.stdout)
print("fast")
print("io", end="")
""",
    "output at exit": """
import atexit, io, os, sys
sys.stdout = io.StringIO()
@atexit.register
def write():
    sys.__stdout__.write(sys.stdout.getvalue())
print("a")
""",
    "replaced stdout": """
import sys
class W:
    def __init__(self): self.n = 0
    def write(self, x): sys.__stdout__.write("[" + x + "]")
    def flush(self): self.n += 1; sys.__stdout__.write("<flush %d>" % self.n)
sys.stdout = W()
print("a")
""",
    "replaced stdout and stderr, kept": """
import io, sys
keep = sys.stdout
sys.stdout = sys.__stdout__ = io.StringIO()
keep.write("kept")
""",
    "stdout is gone": "import sys\nsys.stdout = sys.__stdout__ = None\nprint('x')\n",
    "detached stdout": "import sys\nb = sys.stdout.detach()\nb.write(b'detached')\n",
    "wrapped stdout": "import io, sys\nsys.stdout = io.TextIOWrapper(sys.stdout.detach(), 'utf-16', newline='')\nprint('x')\n",
    "reopened stdout": "import os, sys\nsys.stdout = os.fdopen(1, 'w', buffering=1 << 20)\nprint('x')\n",
    "stdout to a file": (
        "import sys\nsys.stdout = open('o', 'w')\nprint('x')\n",
        {"collect": ("o",)},
    ),
    "redirected": "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as f: print('x')\nprint(f.getvalue())\n",
    "closed stdout": "import sys\nprint(1)\nsys.stdout.close()\n",
    "closed descriptor": "import os\nprint(1)\nos.close(1)\n",
    "all descriptors closed": "import os\nos.closerange(0, 100)\nprint(1)\n",
    "ResourceWarning": "import warnings\nwarnings.simplefilter('always')\nf = open('/dev/null')\ng = open('/dev/null', 'rb', 0)\n",
    "ResourceWarning of a lost file": "import warnings\nwarnings.simplefilter('always')\nopen('/dev/null')\nprint(1)\n",
    "unclosed reader": "f = open(0)\ng = open('/dev/null', 'rb')\nprint(f.read())\n",
    "unclosed socket pair": "import warnings, socket\nwarnings.simplefilter('always')\nx = 1\n",
    "scandir": "import os, warnings\nwarnings.simplefilter('always')\nx = os.scandir('/')\nnext(x)\n",
    "thread pool": """
from concurrent.futures import ThreadPoolExecutor
p = ThreadPoolExecutor(2)
f = [p.submit(pow, i, 2) for i in range(4)]
print([x.result() for x in f])
""",
    "thread pool not waited for": """
import time
from concurrent.futures import ThreadPoolExecutor
def f(i):
    time.sleep(0.02)
    return print(i)
p = ThreadPoolExecutor(1)
for i in range(3): p.submit(f, i)
print("end")
""",
    "thread locals": SPEAKER
    + """
import threading
local = threading.local()
local.a = A("main")
def f(): local.a = A("thread")
t = threading.Thread(target=f); t.start(); t.join()
print("end")
""",
    "context variables": SPEAKER
    + """
import contextvars
v = contextvars.ContextVar("v")
v.set(A("context"))
print("end")
""",
    "timer": "import threading\nt = threading.Timer(0.02, print, ('timer',))\nt.start()\nprint('end')\n",
    "trace function": """
import sys
def trace(frame, event, arg):
    if event == "call": print(frame.f_code.co_name, frame.f_lineno)
sys.settrace(trace)
def f(): pass
f()
import atexit
atexit.register(f)
""",
    "profile function": """
import sys
seen = []
def profile(frame, event, arg):
    sys.__stdout__.write(event + " " + frame.f_code.co_name + chr(10))
sys.setprofile(profile)
def f(): pass
f()
""",
    "audit hook": """
import sys
def hook(event, args):
    if event.startswith("cpython") or event in ("exec", "open", "import"): print(event)
sys.addaudithook(hook)
open("/dev/null").close()
""",
    "gc callbacks": "import gc\ngc.callbacks.append(lambda p, i: print(p))\ngc.collect()\n",
    "gc settings": """
import gc
print(gc.isenabled(), gc.get_threshold(), gc.get_debug(), gc.garbage)
gc.disable()
class A:
    def __del__(self): print("del")
a = A(); a.a = a; del a
gc.freeze(); gc.unfreeze()
print("end")
""",
    "gc finds garbage": """
import gc
class A:
    def __del__(self): print("del")
a = A(); a.a = a; del a
gc.collect()
print("end", len(gc.get_referrers(A)) > 0)
""",
    "gc debug": "import gc\ngc.set_debug(gc.DEBUG_UNCOLLECTABLE)\nclass A: pass\na = A(); a.a = a\n",
    "faulthandler": "import faulthandler\nfaulthandler.enable()\nprint(faulthandler.is_enabled())\n",
    "tracemalloc": "import tracemalloc\nprint(tracemalloc.is_tracing())\ntracemalloc.start()\nx = [1] * 10\nprint(tracemalloc.is_tracing())\n",
    "signal handler at the end": """
import os, signal
class A:
    def __del__(self): os.kill(os.getpid(), signal.SIGALRM); print("del")
signal.signal(signal.SIGALRM, lambda *a: print("handler"))
a = A()
""",
    "module named as a library at the end": SPEAKER
    + """
import sys, types
m = types.ModuleType("mine"); m.a = A("in module"); m.f = lambda: m
sys.modules["mine"] = m
del m
""",
    "__main__ is removed": SPEAKER
    + "import sys\na = A('main')\ndel sys.modules['__main__']\nprint('end')\n",
    "__main__ is replaced": SPEAKER
    + "import sys\na = A('main')\nsys.modules['__main__'] = 3\nprint('end')\n",
    "globals are cleared": SPEAKER + "a = A('main')\nglobals().clear()\n",
    "__builtins__ is replaced": SPEAKER + "a = A('main')\n__builtins__ = {}\n",
    "subinterpreter-like exec": SPEAKER + "g = {'A': A}\nexec('a = A(1)\\ndef f(): return a', g)\n",
    "logging": "import logging\nlogging.basicConfig()\nlogging.warning('x')\nlogging.getLogger('a').error('y')\n",
    "cached property and lru": SPEAKER
    + "import functools\n@functools.lru_cache(None)\ndef f(x): return A(x)\nf(1)\n",
    "enum, dataclass with __del__": SPEAKER
    + "import dataclasses\n@dataclasses.dataclass\nclass D(A):\n    name: str\nd = D('d')\n",
    "atexit and __del__": SPEAKER
    + "import atexit\na = A('a')\natexit.register(print, 'exit')\natexit.register(lambda: A('in atexit'))\n",
    "atexit is removed": "import atexit, sys\natexit.register(print, 'exit')\ndel sys.modules['atexit']\n",
    "threading is removed": """
import threading, sys, time
threading.Thread(target=lambda: (time.sleep(0.05), print("thread"))).start()
del sys.modules["threading"]
print("end")
""",
    "fork": """
import os
try:
    pid = os.fork()
except OSError as e:
    print(e)
else:
    if pid == 0: os._exit(3)
    print(os.waitpid(pid, 0)[1])
""",
    "subprocess": """
import subprocess, sys
try:
    print(subprocess.run([sys.executable, "-c", "print(1)"], stdout=subprocess.PIPE).stdout)
except OSError as e:
    print(e)
""",
    "multiprocessing": """
import multiprocessing
def f(x): return x * x
if __name__ == "__main__":
    try:
        with multiprocessing.Pool(2) as p: print(p.map(f, [1, 2]))
    except OSError as e:
        print(e)
""",
    "__del__ of a library's class whose objects exist": """
import os, re
type(os.environ).__del__ = lambda self: print("del environment")
re.RegexFlag.__del__ = lambda self: print("del flag")
type(exit).__del__ = lambda self: print("del", self.name)
""",
    "__del__ of an imported class whose objects exist": """
import json
json.JSONDecoder.__del__ = lambda self: print("del")
""",
    "a base of a library's class gets __del__": """
import collections.abc, os
collections.abc.MutableMapping.__del__ = lambda self: print("del", type(self).__name__)
""",
    "gc.freeze before the end": SPEAKER + "a = A('frozen')\na.me = a\nimport gc\ngc.freeze()\n",
    "gc.unfreeze before the end": SPEAKER + "import gc\ngc.unfreeze()\ngc.collect()\na = A('a')\n",
    "gc.callbacks at the end": """
import gc, sys
print(len(gc.callbacks))
gc.callbacks.append(lambda phase, info, print=print: print(phase))
""",
}
