# ruff: noqa: E501
"""Programs that import, and look at what is imported."""

from gradebox.sandbox.model import Limits

WITH_PROCESSES = Limits(cpu_s=20, wall_s=20, memory_bytes=1 << 30, processes=16)

IMPORTS = {
    "nothing is visible before its import": """
import sys
before = sorted(sys.modules)
import heapq, collections.abc, concurrent.futures, json
print(before)
print(sorted(set(sys.modules) - set(before)))
""",
    "attributes of parents": """
import concurrent
print(hasattr(concurrent, "futures"), sorted(n for n in vars(concurrent) if n[:2] != "__"))
import concurrent.futures
print(hasattr(concurrent, "futures"))
import xml
print(sorted(n for n in vars(xml) if n[:2] != "__"))
from xml.etree import ElementTree
print(sorted(n for n in vars(xml) if n[:2] != "__"), ElementTree.fromstring("<a/>").tag)
""",
    "a submodule that nobody imported": """
import concurrent
print(concurrent.futures.ThreadPoolExecutor)
""",
    "a submodule that a later statement imports": """
import os, xml
try:
    print(xml.dom)
except AttributeError as e:
    print(e)
import xml.dom.minidom
print(xml.dom.minidom.parseString("<a><b/></a>").toxml())
""",
    "import this": """
import this
import antigravity_is_not_there
""",
    "prints once": """
import this
import this
import sys; print("this" in sys.modules)
""",
    "conditional": """
import sys
if len(sys.argv) > 5:
    import heapq
print("heapq" in sys.modules)
if len(sys.argv) < 5:
    import heapq
print("heapq" in sys.modules)
import collections
""",
    "out of order": """
import sys
def late():
    import bisect
    return bisect.bisect([1, 2], 1)
print("bisect" in sys.modules, late(), "bisect" in sys.modules)
import heapq
print(sorted(m for m in sys.modules if "heap" in m or "bisect" in m))
import bisect
import json
print(json.dumps({"a": 1}))
""",
    "in a try": """
try:
    import numpy_is_missing
except ImportError as e:
    print(repr(e), e.name, e.path)
try:
    from math import no_such_name
except ImportError as e:
    print(type(e).__name__, e.name)
try:
    import os.path.nothing
except ModuleNotFoundError as e:
    print(e)
""",
    "missing at the top": """
import json
import no_such_module_at_all
import heapq
""",
    "missing name at the top": """
from collections import deque, NoSuchThing
""",
    "relative": """
from . import something
""",
    "relative in a try": """
try:
    from .a import b
except ImportError as e:
    print(type(e).__name__, e)
import heapq
""",
    "star": """
from math import *
from collections import *
from itertools import *
print(pi, sorted(k for k in globals() if not k.startswith("_")))
""",
    "star of a package": """
from concurrent.futures import *
from xml.dom import *
print(sorted(k for k in globals() if not k.startswith("_")))
""",
    "aliases": """
import os.path as p, collections.abc as c, concurrent.futures as f
from collections import OrderedDict as O, Counter as C
print(p.__name__, c.__name__, f.__name__, O.__name__, C("aab"))
""",
    "future": '''"""Text."""
from __future__ import annotations, division
import heapq
def f(x: NoSuchName) -> "y": pass
print(f.__annotations__, __doc__, annotations)
''',
    "own sys.path": """
import sys
sys.path.insert(0, "/tmp")
import heapq, fractions
print(sys.path[0], heapq.__name__, fractions.Fraction(1, 3))
sys.path.clear()
try:
    import wave
except ImportError as e:
    print(e)
""",
    "own meta path": """
import sys
class Finder:
    @staticmethod
    def find_spec(name, path, target=None):
        print("find", name)
sys.meta_path.insert(0, Finder)
import bisect
import heapq
import json.tool
""",
    "own __import__": """
import builtins
old = builtins.__import__
def mine(name, *args, **kw):
    print("import", name, len(args), sorted(kw))
    return old(name, *args, **kw)
builtins.__import__ = mine
import heapq
from collections import deque
import json
""",
    "removed from sys.modules": """
import sys
import heapq
first = heapq
del sys.modules["heapq"]
import heapq
print(first is heapq)
import bisect
sys.modules["bisect"] = None
try:
    import bisect
except ImportError as e:
    print(e)
""",
    "replaced in sys.modules": """
import sys
sys.modules["heapq"] = "mine"
import bisect
import heapq
print(heapq, bisect.__name__)
""",
    "reload": """
import importlib, heapq
heapq.new = 1
again = importlib.reload(heapq)
print(again is heapq, heapq.new)
""",
    "importlib": """
import importlib, importlib.util
print(importlib.util.find_spec("heapq").name, importlib.util.find_spec("no_such"))
print(importlib.import_module("bisect").__name__)
import bisect
""",
    "__import__ called": """
print(__import__("os.path").__name__, __import__("heapq").__name__)
import heapq
print(heapq.heapify([]))
""",
    "repeated": """
import heapq
import heapq
from heapq import heappush
import heapq as h
print(h is heapq, heappush)
import json, json
from json import decoder, encoder, loads
print(decoder.__name__, encoder.__name__)
""",
    "in a class and a function": """
class A:
    import heapq
    from bisect import bisect_left
def f():
    global json
    import json
f()
print(A.heapq.__name__, A.bisect_left([1, 2], 2), json.dumps([1]))
""",
    "order of sys.modules": """
import sys
import json
import concurrent.futures
from xml.etree import ElementTree
import fractions, decimal
import string
print(list(sys.modules))
""",
    "specs and loaders": """
import sys, json.decoder, heapq, math, _bisect
for name in ("json", "json.decoder", "heapq", "math", "sys"):
    m = sys.modules[name]
    s = m.__spec__
    print(name, s.name, s.origin, s.cached, s.parent, s.has_location, s.submodule_search_locations)
    print(type(m.__loader__).__name__, getattr(m, "__file__", None), getattr(m, "__cached__", None))
    print(getattr(s, "_initializing", None))
""",
    "importer cache": """
import sys
print(sorted(sys.path_importer_cache))
import json, heapq
print(sorted(sys.path_importer_cache), sys.path, sys.meta_path and [str(x)[:30] for x in sys.path_hooks])
""",
    "program's own file": (
        """
import sys
print(sorted(m for m in sys.modules if m == "heapq"))
import heapq
import json
print(heapq.MINE, json.__name__, heapq.__file__)
""",
        {"files": {"heapq.py": b"MINE = 1\nprint('mine')\n"}},
    ),
    "program's own package name": (
        """
import helper
from helper import x
import helper as h
print(helper.__file__, h.x, helper.__spec__.name)
""",
        {"files": {"helper.py": b"import json\nx = 5\nprint(__name__)\n"}},
    ),
    "imports itself": """
print(__name__)
import main
print(main.__name__, main.__file__)
""",
    "module made at run time": """
import os
with open("made_now.py", "w") as f:
    f.write("x = 3")
import sys
sys.path.append(os.getcwd())
import made_now
print(made_now.x, made_now.__file__)
""",
    "dis and ast of a module": """
import ast, dis, io, tokenize
print(ast.dump(ast.parse("a = 1 + b")))
out = io.StringIO()
dis.dis(compile("a = 1", "<x>", "exec"), file=out)
print(out.getvalue())
print([t.string for t in tokenize.generate_tokens(io.StringIO("a + 1").readline)])
""",
    "import that warns": """
import warnings
warnings.simplefilter("always")
import imp_missing_or_not if False else None
""",
    "deprecated modules warn": """
import warnings
warnings.simplefilter("always")
for name in ("imp", "asynchat", "asyncore", "cgi", "distutils", "crypt", "lib2to3", "pipes", "sre_compile", "audioop"):
    try:
        __import__(name)
        print(name)
    except ImportError as e:
        print(type(e), e)
""",
    "deprecated modules at the top": """
import sre_compile
import cgi
import pipes
print(1)
""",
    "warn filter before import": """
import warnings
warnings.filterwarnings("error")
import sre_parse
""",
    "audit hook sees imports": """
import sys
seen = []
sys.addaudithook(lambda event, args: seen.append((event, args[0])) if event == "import" else None)
import heapq
import bisect, json
print([s for s in seen])
""",
    "settrace over imports": """
import sys
calls = []
def trace(frame, event, arg):
    calls.append((event, frame.f_code.co_name, frame.f_code.co_filename.rpartition("/")[2]))
sys.setprofile(trace)
import heapq
sys.setprofile(None)
print(calls)
""",
    "traceback of an import": """
import sys, traceback
try:
    import json.nothing
except ImportError:
    traceback.print_exc()
try:
    from json import nothing
except ImportError:
    traceback.print_exc()
import json.nothing
""",
    "typing, enum, dataclasses": """
import dataclasses, enum, typing
from typing import List, NamedTuple, Optional
@dataclasses.dataclass(order=True)
class P:
    x: int
    y: List[int] = dataclasses.field(default_factory=list)
class E(enum.Enum):
    A = enum.auto()
    B = enum.auto()
class N(NamedTuple):
    a: int
    b: Optional[str] = None
print(P(1), P(1) < P(2), list(E), N(1), typing.get_type_hints(P))
""",
    "identity of shared objects": """
import collections, typing, re, abc, io, os
import collections.abc
print(collections.abc.Mapping is typing.get_origin(typing.Mapping[int, int]))
print(isinstance({}, collections.abc.Mapping), issubclass(io.TextIOWrapper, io.IOBase))
print(re.compile("a") is re.compile("a"), os.path.join("a", "b"))
class A(collections.abc.Sized):
    def __len__(self): return 1
print(isinstance(A(), collections.abc.Sized), isinstance(3, collections.abc.Sized))
""",
    "threads import": """
import threading, sys
def work():
    import bisect
    print("bisect" in sys.modules)
t = threading.Thread(target=work)
t.start(); t.join()
import heapq
import bisect
print(bisect.bisect([1], 1))
""",
    "lib caches are fresh": """
import re, functools, linecache, copyreg, encodings, codecs, struct
print(len(getattr(re, "_cache")), len(linecache.cache), len(copyreg.dispatch_table))
print(sorted(map(str, copyreg.dispatch_table)), sorted(encodings._cache))
import random, decimal, locale, time, calendar
print(decimal.getcontext(), locale.getlocale(), time.tzname, calendar.firstweekday())
""",
    "aliases of one module": """
import os.path, posixpath, os
import collections.abc, _collections_abc
from os import path
print(os.path is posixpath, collections.abc is _collections_abc, path is posixpath)
import sys
sys.modules["alias"] = posixpath
import alias
print(alias.__name__)
""",
    "import with monkeypatched module": """
import heapq
heapq.heappush = "mine"
import sched, queue, asyncio
print(heapq.heappush, sched.heapq.heappush)
""",
    "a library patched before another is imported": """
import random
import os
os.urandom = lambda n: b"x" * n
import uuid, secrets, tempfile
print(uuid.os.urandom(1), len(secrets.token_hex()), random.__name__)
""",
    "builtins patched before an import": """
import builtins
builtins.print = lambda *a: builtins.__import__("sys").stdout.write("patched " + " ".join(map(str, a)) + chr(10))
import this
import fractions
print(3)
""",
    "stdout replaced before an import": """
import io, sys
old = sys.stdout
sys.stdout = io.StringIO()
import this
text = sys.stdout.getvalue()
sys.stdout = old
print(len(text), text[:20])
""",
    "recursion limit before an import": """
import sys
sys.setrecursionlimit(10 ** 6)
import collections, heapq, fractions, decimal
print(sys.getrecursionlimit())
""",
    "environment before an import": """
import os
os.environ["TZ"] = "Asia/Tokyo"
os.environ["PYTHONASYNCIODEBUG"] = "1"
import time, random, asyncio, tempfile
os.environ["TMPDIR"] = "/nothing"
print(time.tzname, os.environ.get("TZ"), asyncio.coroutines._is_debug_mode())
""",
    "state that an import reads": """
import os
os.chdir("/tmp")
os.umask(0)
os.environ["COLUMNS"] = "33"
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
import argparse, shutil, subprocess, multiprocessing, tempfile
print(shutil.get_terminal_size(), os.getcwd(), tempfile.gettempdir(), signal.getsignal(signal.SIGINT))
""",
    "hash of imported things": """
import sys, decimal, fractions
print(hash("abc"), hash(1.5), hash((1, "a")), hash(b"x"), sys.flags.hash_randomization)
print({"a", "b", "c", "d"}, list({x: 1 for x in "hello world"}))
print(hash(decimal.Decimal("1.1")), hash(fractions.Fraction(1, 3)))
""",
    "__main__ imported": """
import __main__, sys
x = 3
print(__main__.x, __main__ is sys.modules["__main__"], sorted(vars(__main__)))
import heapq
""",
    "lazy names in a pool of processes": (
        """
from concurrent.futures import ProcessPoolExecutor
import sys
print("concurrent.futures.process" in sys.modules)
def double(x): return 2 * x
if __name__ == "__main__":
    try:
        with ProcessPoolExecutor(2) as pool: print(list(pool.map(double, range(5))))
    except OSError as e:
        print(e)
""",
        {"limits": WITH_PROCESSES},
    ),
    "a value that imports before its turn": """
x = exec("import xml.dom")
import xml.etree.ElementTree
import sys
print([name for name in sys.modules if "xml" in name], sorted(vars(sys.modules["xml"])))
""",
    "a value that reads the modules before their turn": """
import sys
class A:
    names = sorted(sys.modules)
def f(names=list(sys.modules)): return names
x = [sys.getrecursionlimit(), "heapq" in sys.modules]
import heapq
print(A.names, f(), x, "heapq" in sys.modules)
""",
    "a package with lazy names imported twice": """
import concurrent.futures
import sys
first = concurrent.futures.ThreadPoolExecutor
del sys.modules["concurrent.futures"]
import concurrent.futures as again
print(sorted(vars(again)), "ThreadPoolExecutor" in vars(again), again.ThreadPoolExecutor is first)
""",
    "names of lazy packages, in order": """
import sys
from concurrent.futures import ThreadPoolExecutor, ProcessPoolExecutor
import xml.etree.ElementTree as tree
from importlib.metadata import *
sys.setrecursionlimit(5 * 10**3)
import wave
print(list(globals()), list(sys.modules), sys.getrecursionlimit(), sys.getsizeof(globals()))
print([m for m in sys.modules.values() if m is not sys.modules.get(getattr(m, "__name__", ""))])
""",
    "gc is imported by a module that is imported": """
import weakref, unittest.mock, timeit
import sys
print("gc" in sys.modules, "gc" in vars(timeit), list(sys.modules).index("gc"))
""",
}
