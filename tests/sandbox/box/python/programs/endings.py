# ruff: noqa: E501
"""Programs that end in every way."""


def _exits() -> dict[str, str]:
    values = (
        "",
        "0",
        "1",
        "3",
        "256",
        "-1",
        "2**31",
        "2**40",
        "2**70",
        "-2**70",
        "True",
        "None",
        "'text'",
        "b'bytes'",
        "1.5",
        "[1]",
        "(1, 2)",
        "object",
        "'\\u20ac'",
        "'\\ud800'",
        "''",
        "{}",
    )
    exits = {f"sys.exit({v})": f"import sys\nprint(1)\nsys.exit({v})\n" for v in values}
    raised = ("1", "'a', 'b'", "", "None", "7, 8")
    return exits | {f"SystemExit({v})": f"print(1)\nraise SystemExit({v})\n" for v in raised}


def _raises() -> dict[str, str]:
    values = (
        "ValueError",
        "ValueError('a\\nb')",
        "KeyError('a')",
        "OSError(2, 'no', 'file')",
        "MemoryError",
        "RecursionError",
        "KeyboardInterrupt",
        "KeyboardInterrupt('x')",
        "GeneratorExit",
        "StopIteration(3)",
        "BaseException('x')",
        "AssertionError()",
        "UnicodeDecodeError('utf-8', b'a', 0, 1, 'why')",
        "SyntaxError('bad', ('f.py', 3, 2, 'text here'))",
        "SyntaxError('bad')",
        "EOFError",
        "type('Mine', (Exception,), {'__str__': lambda s: 1/0})",
        "Exception('\\ud800')",
        "NotImplementedError",
        "type('Deep.er', (Exception,), {'__module__': 'x.y'})",
        "IndentationError('a', ('main.py', 1, 1, 'x'))",
        "SystemError('x')",
        "BrokenPipeError",
        "TimeoutError(1)",
        "3",
        "None",
        "ImportError('a', name='b')",
    )
    return {f"raise {v}": f"print(1)\nraise {v}\n" for v in values}


ENDINGS = {
    **_exits(),
    **_raises(),
    "exit code subclass": """
import sys
class I(int):
    def __str__(self): return "I"
sys.exit(I(5))
""",
    "exit code with __index__": """
class A:
    def __index__(self): return 4
    def __str__(self): return "printed"
raise SystemExit(A())
""",
    "exit code that does not print": """
class A:
    def __str__(self): raise ValueError("no")
raise SystemExit(A())
""",
    "SystemExit subclass": """
class E(SystemExit):
    code = 9
raise E(4)
""",
    "SystemExit with a changed code": """
e = SystemExit(1)
e.code = 6
raise e
""",
    "SystemExit with a property": """
class E(SystemExit):
    @property
    def code(self): return 1 / 0
raise E()
""",
    "quit": "quit()\n",
    "exit with a text": "exit('bye')\n",
    "exit closes stdin": """
import sys
try:
    exit()
except SystemExit:
    print(sys.stdin.closed)
""",
    "os._exit": """
import os, sys
print("lost", end="")
sys.stderr.write("kept")
os._exit(5)
""",
    "os._exit in atexit": """
import atexit, os
atexit.register(os._exit, 4)
print("lost?")
""",
    "os.abort": "import os\nprint(1, flush=True)\nos.abort()\n",
    "killed": "import os, signal\nprint('x', flush=True)\nos.kill(os.getpid(), signal.SIGTERM)\n",
    "interrupted": "import os, signal\nprint('x')\nos.kill(os.getpid(), signal.SIGINT)\nprint('y')\n",
    "interrupted and caught": """
import os, signal
try:
    os.kill(os.getpid(), signal.SIGINT)
    for i in range(1000): pass
except KeyboardInterrupt:
    print("caught")
""",
    "interrupted, with atexit": """
import atexit, threading
atexit.register(print, "bye")
class A:
    def __del__(self): print("del")
a = A()
raise KeyboardInterrupt
""",
    "alarm": "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.05)\nwhile True: pass\n",
    "handler": """
import signal
def handler(number, frame):
    print(number, frame.f_code.co_name, frame.f_lineno)
    raise SystemExit(3)
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.05)
while True: pass
""",
    "atexit prints": "import atexit\natexit.register(print, 'a')\natexit.register(print, 'b')\nprint('c')\n",
    "atexit raises": "import atexit\natexit.register(lambda: 1 / 0)\natexit.register(print, 'b')\nprint('c')\n",
    "atexit exits": "import atexit, sys\natexit.register(sys.exit, 7)\natexit.register(print, 'b')\nprint('c')\n",
    "atexit raises SystemExit of a text": """
import atexit
def f(): raise SystemExit("text")
atexit.register(f)
""",
    "atexit registers": """
import atexit
def f():
    print("f")
    atexit.register(print, "g")
atexit.register(f)
""",
    "atexit imports and threads": """
import atexit
def f():
    import heapq, threading
    print(heapq.__name__, __name__, globals().get("__file__"))
    t = threading.Thread(target=print, args=("thread",))
    try:
        t.start()
        t.join()
    except RuntimeError as e:
        print(e)
atexit.register(f)
""",
    "atexit and an exception": "import atexit\natexit.register(print, 'a')\nraise ValueError\n",
    "atexit sees last exception": """
import atexit, sys
def f(): print(getattr(sys, "last_type", None), getattr(sys, "last_value", None))
atexit.register(f)
raise ValueError("x")
""",
    "what atexit sees": """
import atexit, sys
def f(): print(sorted(globals()), "__file__" in globals(), sys.argv, sys.modules["__main__"].__dict__.get("__file__"))
atexit.register(f)
""",
    "excepthook": """
import sys
def hook(kind, value, trace):
    print("hook", kind, value, trace.tb_lineno, trace.tb_next)
sys.excepthook = hook
raise ValueError("x")
""",
    "excepthook raises": "import sys\nsys.excepthook = lambda *a: 1 / 0\nraise ValueError('x')\n",
    "excepthook exits": "import sys\nsys.excepthook = lambda *a: sys.exit(3)\nraise ValueError('x')\n",
    "excepthook is None": "import sys\nsys.excepthook = None\nraise ValueError('x')\n",
    "excepthook is deleted": "import sys\ndel sys.excepthook\nraise ValueError('x')\n",
    "stderr is None": "import sys\nsys.stderr = None\nraise ValueError('x')\n",
    "stderr is closed": "import sys\nsys.stderr.close()\nraise ValueError('x')\n",
    "unraisable": """
class A:
    def __del__(self): raise ValueError("in del")
a = A()
del a
print("after")
""",
    "unraisable hook": """
import sys
sys.unraisablehook = lambda u: print("hook", u.exc_type, u.err_msg)
class A:
    def __del__(self): raise ValueError("in del")
A()
a = A()
""",
    "chained": """
try:
    try:
        1 / 0
    except ZeroDivisionError as e:
        raise ValueError("x") from e
except ValueError:
    raise KeyError("y")
""",
    "suppressed chain": """
def f(n):
    if n: f(n - 1)
    raise ValueError(n)
try:
    f(3)
except ValueError:
    raise RuntimeError("x") from None
""",
    "recursion": "def f(n): return f(n + 1)\nf(0)\n",
    "recursion in the traceback": """
def f(n):
    return g(n)
def g(n):
    return f(n + 1) if n < 990 else [][1]
f(0)
""",
    "exact depth": """
import sys
def depth(n=1):
    try:
        return depth(n + 1)
    except RecursionError:
        return n
print(depth())
sys.setrecursionlimit(5000)
print(depth())
def frames():
    n, f = 0, sys._getframe()
    while f:
        print(f.f_code.co_name, f.f_code.co_filename, f.f_lineno)
        n, f = n + 1, f.f_back
    return n
print(frames())
""",
    "low recursion limit": "import sys\nsys.setrecursionlimit(30)\nprint(3)\nimport heapq\n",
    "recursion limit at the end": """
import sys
class A:
    def __del__(self): print("del")
a = A()
try:
    sys.setrecursionlimit(5)
except RecursionError as e:
    print(e)
""",
    "group": """
import sys
if sys.version_info >= (3, 11):
    raise ExceptionGroup("g", [ValueError(1), TypeError(2)])
""",
    "notes": """
e = ValueError("x")
if hasattr(e, "add_note"):
    e.add_note("a note")
raise e
""",
    "exit in a thread": """
import threading, sys
t = threading.Thread(target=sys.exit, args=(5,))
t.start()
t.join()
print("main")
""",
    "exception in a thread": """
import threading
def f(): raise ValueError("in thread")
t = threading.Thread(target=f, name="mine")
t.start(); t.join()
print("main")
""",
    "thread excepthook": """
import threading
threading.excepthook = lambda a: print(a.exc_type, a.thread.name)
t = threading.Thread(target=lambda: 1 / 0, name="mine")
t.start(); t.join()
""",
    "non-daemon thread outlives main": """
import threading, time
def f():
    time.sleep(0.05)
    print("thread ends")
threading.Thread(target=f).start()
print("main ends")
""",
    "non-daemon thread and an exception": """
import threading, time
def f():
    time.sleep(0.05)
    print("thread ends")
threading.Thread(target=f).start()
raise ValueError("main")
""",
    "daemon thread": """
import threading, time
threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
print("main ends")
""",
    "daemon thread that holds stdin": """
import threading, sys
e = threading.Event()
threading.Thread(target=e.wait, daemon=True).start()
class A:
    def __del__(self): print("del")
a = A()
print("end")
""",
    "raw thread": """
import _thread, time
done = []
_thread.start_new_thread(lambda: done.append(1), ())
while not done: time.sleep(0.001)
print(done)
""",
    "big stack thread": """
import sys, threading
sys.setrecursionlimit(20000)
threading.stack_size(256 * 1024 * 1024)
def f(n): return 0 if n == 0 else 1 + f(n - 1)
t = threading.Thread(target=lambda: print(f(15000)))
t.start(); t.join()
print(threading.stack_size())
""",
    "interrupted main": "import _thread\n_thread.interrupt_main()\nfor i in range(1000): pass\nprint(1)\n",
    "syntax error": "print(1)\nx = = 2\n",
    "syntax error in exec": "exec('x = = 2')\n",
    "indentation": "if 1:\nprint(1)\n",
    "null byte": b"print(1)\n\0\n",
    "only a byte order mark": b"\xef\xbb\xbf",
    "byte order mark": b"\xef\xbb\xbfprint(__name__, 'x')\n",
    "latin-1 cookie": b"# -*- coding: latin-1 -*-\nprint(ascii('\xe9'))\nraise ValueError('\xe9')\n",
    "unknown cookie": b"# coding: no-such-encoding\nprint(1)\n",
    "not utf-8": b"print('\xe9')\n",
    "cp1252 cookie on the second line": b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nprint(ascii('\x80'))\n",
    "utf-16": "print(1)\n".encode("utf-16"),
    "carriage returns": b"print(1)\rprint(2)\r\nraise ValueError\r\n",
    "form feeds and tabs": b"\x0cif 1:\n\tprint(1)\n        print(2)\n",
    "no line end": b"raise ValueError(1)",
    "empty": b"",
    "syntax warning": "x = 1\nprint(x is 1)\nassert (x, 'always')\n",
    "invalid escape": "print('\\d')\n",
    "deep nesting": "x = " + "(" * 150 + "1" + ")" * 150 + "\nprint(x)\n",
    "too deep nesting": "x = " + "(" * 250 + "1" + ")" * 250 + "\nprint(x)\n",
    "deep expression": "x = " + "+".join(["1"] * 3000) + "\nprint(x)\n",
    "very deep expression": "x = " + "-" * 100000 + "1\nprint(x)\n",
    "huge literal": "x = " + "9" * 5000 + "\nprint(x)\n",
    "return outside": "return 1\n",
    "await outside": "await x\n",
    "line continuation at the end": "print(1) \\",
    "a docstring": '"""Doc."""\nprint(__doc__)\n',
}
