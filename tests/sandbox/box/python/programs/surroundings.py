# ruff: noqa: E501
"""Programs that look at themselves, the interpreter and the process."""

SURROUNDINGS = {
    "__main__": """
import sys
for k in sorted(globals()): print(k, ascii(globals()[k]))
m = sys.modules["__main__"]
print(m, sorted(dir(m)), m.__spec__, m.__loader__.name, m.__loader__.path, list(vars(m)))
""",
    "names of __main__, in order": "print(list(globals()), __name__, __file__, __doc__, __package__, __spec__, __cached__)\n",
    "annotations": "x: int = 3\nprint(__annotations__, globals().get('__annotations__'))\n",
    "__builtins__": "print(__builtins__, type(__builtins__), len(dir(__builtins__)), dir(__builtins__))\n",
    "loader": "print(__loader__.get_source('__main__')[:20], __loader__.is_package('__main__'), __loader__.get_filename())\n",
    "sys": """
import sys
print(sys.argv, getattr(sys, "orig_argv", 0), sys.flags, sys.path, sys.executable, sys.prefix, sys.base_prefix)
print(sys.version, sys.implementation, sys.platform, sys.byteorder, sys.maxsize, sys.hash_info, sys.int_info, sys.float_info)
print(sys.getrecursionlimit(), sys.getswitchinterval(), sys.dont_write_bytecode, sys.warnoptions, sys._xoptions)
print(sys.getdefaultencoding(), sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())
print(sys.gettrace(), sys.getprofile(), sys.excepthook, sys.displayhook, sys.unraisablehook, sys.breakpointhook)
print(sorted(sys.__dict__))
print(sys.getallocatedblocks() > 0, sys.exc_info(), hasattr(sys, "last_type"), hasattr(sys, "ps1"))
print(getattr(sys, "pycache_prefix", 0), sys.get_asyncgen_hooks(), sys.get_coroutine_origin_tracking_depth())
print(getattr(sys, "get_int_max_str_digits", int)())
""",
    "order of sys": "import sys\nprint([k for k in vars(sys)])\n",
    "builtin objects": "import sys, builtins\nprint(list(vars(builtins)), sys.builtin_module_names, sys.meta_path, sys.path_hooks)\n",
    "frames": """
import sys
f = sys._getframe()
print(f.f_back, f.f_code.co_name, f.f_lineno, f.f_code.co_filename, f.f_globals is globals(), f.f_locals is globals(), f.f_trace)
try: sys._getframe(1)
except ValueError as e: print(e)
""",
    "code": "import sys\nc = sys._getframe().f_code\nprint(c.co_name, c.co_filename, c.co_firstlineno, c.co_flags, c.co_names, c.co_stacksize, c.co_consts)\n",
    "code objects are the compiler's": "import sys\nc = sys._getframe().f_code\nd = compile(open(__file__).read(), __file__, 'exec')\nprint(c == d, c.co_code == d.co_code)\n",
    "source": """
import inspect, sys
def f(x):
    return x  # here
class A: pass
print(inspect.getsource(f), inspect.getsourcefile(f), inspect.getsource(sys.modules["__main__"]), inspect.signature(f))
print(inspect.stack()[0].code_context, inspect.getmodule(f), inspect.currentframe().f_lineno, inspect.getsource(A))
""",
    "traceback module": """
import traceback, sys
def f(): raise ValueError("x")
try: f()
except ValueError: traceback.print_exc(file=sys.stdout)
traceback.print_stack()
print(traceback.extract_stack())
""",
    "warnings": """
import warnings
warnings.warn("plain")
warnings.warn("deprecated", DeprecationWarning)
warnings.warn("syntax", SyntaxWarning, stacklevel=2)
print(warnings.filters, warnings.defaultaction, __import__("sys").modules["__main__"].__dict__.get("__warningregistry__"))
""",
    "threads": """
import threading, _thread
print(threading.current_thread().name, threading.main_thread() is threading.current_thread(), threading.active_count())
print(threading.enumerate()[0].daemon, threading.stack_size(), threading.get_ident() == threading.main_thread().ident, _thread._count())
print(threading.get_native_id() == __import__("os").getpid())
t = threading.Thread(target=lambda: print(threading.current_thread().name)); t.start(); t.join()
""",
    "signals": """
import signal
for s in sorted(signal.valid_signals()):
    try: print(s, signal.getsignal(s))
    except ValueError as e: print(s, e)
print(signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.sigpending(), signal.getitimer(signal.ITIMER_REAL))
print(signal.set_wakeup_fd(-1))
""",
    "signals of the process": "print([l for l in open('/proc/self/status') if l.startswith(('SigB', 'SigI', 'SigC', 'Shd', 'NoNewPrivs', 'Cap', 'Groups'))])\n",
    "environment": "import os\nprint(sorted(os.environ.items()), os.environb[b'PATH'] if b'PATH' in os.environb else 0)\n",
    "order of the environment": "import os\nprint(list(os.environ))\n",
    "environment of the process": """
import ctypes
environ = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
i, found = 0, []
while environ[i]:
    found.append(environ[i]); i += 1
print(found)
""",
    "process": """
import os
print(os.getpid(), os.getppid(), os.getpgid(0), os.getsid(0), os.getpgrp(), os.getuid(), os.geteuid(), os.getgid(), os.getgroups())
print(os.getresuid(), os.getresgid(), os.getcwd(), oct(os.umask(0)), os.nice(0), len(os.sched_getaffinity(0)), os.sched_getscheduler(0))
print(os.listdir("."), os.access("/program", os.W_OK), os.access(".", os.W_OK), os.getpriority(os.PRIO_PROCESS, 0))
print(os.cpu_count(), os.uname().sysname, os.ctermid())
""",
    "descriptors": """
import os, fcntl
for fd in range(64):
    try: print(fd, fcntl.fcntl(fd, fcntl.F_GETFD), fcntl.fcntl(fd, fcntl.F_GETFL))
    except OSError: pass
print(sorted(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0)
""",
    "limits": """
import resource
for name in sorted(n for n in dir(resource) if n.startswith("RLIMIT")):
    # For an ordinary user the templates are among the processes that the kernel counts.
    if name != "RLIMIT_NPROC": print(name, resource.getrlimit(getattr(resource, name)))
""",
    "children's figures": "import resource\nr = resource.getrusage(resource.RUSAGE_CHILDREN)\nprint(r.ru_utime, r.ru_maxrss, r.ru_minflt)\nimport os\nprint(os.times()[2:4])\n",
    "children": "import os\ntry: os.wait()\nexcept OSError as e: print(e)\n",
    "locale": "import locale, time\nprint(locale.getlocale(), locale.setlocale(locale.LC_ALL), locale.getpreferredencoding(), time.tzname, locale.localeconv())\n",
    "locale of C": "import _locale\nprint(_locale.setlocale(_locale.LC_ALL, None))\n",
    "random differs": "import random\nr = random.random()\nrandom.seed(5)\nprint(0 <= r < 1, random.random(), random.Random(3).random(), random.Random('a').random())\n",
    "random state": "import random, os\nprint(len(os.urandom(8)), random.getstate()[0], random._inst.__class__)\n",
    "hashes": "print(hash('a'), hash(b'a'), hash(None) == hash(None), hash(frozenset('abc')), {*'abcdef'}, hash(float('inf')))\n",
    "pickle": """
import pickle, copy, copyreg
class A:
    def __init__(self): self.x = 1
class B(A):
    __slots__ = ("y",)
a = pickle.loads(pickle.dumps(A()))
print(type(a), a.x, pickle.dumps(A(), 0), copy.deepcopy(a).x, copyreg.__reduce_ex__)
print(pickle.loads(pickle.dumps(print)), pickle.loads(pickle.dumps(A)) is A)
""",
    "reprs": "class A:\n    def f(self): pass\ndef g(): yield\nprint(A, A().f, g, g(), len, [].append, type, print, lambda: 0)\n",
    "decimal": "import decimal\nprint(decimal.getcontext(), decimal.DefaultContext)\ndecimal.getcontext().prec = 50\nprint(decimal.Decimal(1) / 3)\n",
    "context variables": "import contextvars\nprint(dict(contextvars.copy_context()))\n",
    "asyncio": "import asyncio\nprint(asyncio.get_event_loop_policy())\nasync def f(): return 5\nprint(asyncio.run(f()))\n",
    "recursion to the limit": """
import sys
def f(n): return 0 if n == 0 else 1 + f(n - 1)
sys.setrecursionlimit(50000)
print(f(20000))
""",
    "recursion in C": "import sys\nx = []\nfor i in range(100000): x = [x]\ntry: repr(x)\nexcept RecursionError as e: print(e)\ntry: print(x == x)\nexcept RecursionError as e: print(e)\n",
    "unlimited recursion": """
import sys
sys.setrecursionlimit(10 ** 9)
def f(n):
    if n % 10000 == 0: print(n, flush=True)
    return f(n + 1) if n < 60000 else 0
f(1)
""",
    "subclasses": "print([c.__name__ for c in Exception.__subclasses__()], int.__subclasses__())\n",
    "compile and exec": "exec(compile('print(__name__, __file__)', 'x.py', 'exec'))\nprint(eval('__name__'), eval('1 + 1', {}))\n",
    "runpy": "import runpy\nif __name__ == '__main__': print(sorted(runpy.run_path(__file__, run_name='other'))[:3])\n",
    "site": "import site, sysconfig\nprint(site.ENABLE_USER_SITE, sysconfig.get_path('stdlib'), exit, quit, copyright, credits)\n",
    "numpy": """
try:
    import numpy as np
except ImportError as e:
    print(e)
else:
    a = np.random.rand()
    np.random.seed(3)
    print(0 <= a < 1, np.random.rand(), np.array([1, 2]).sum(), np.random.default_rng(3).random(), np.geterr())
""",
    "numpy at the top": """
import numpy as np
from numpy import linalg, array
import numpy.random
a = np.random.rand()
np.random.seed(3)
print(0 <= a < 1, np.random.rand(), linalg.det(array([[1, 2], [3, 4]])), np.get_printoptions()["precision"], np.geterr())
np.array([1]) / 0
""",
    "numpy imported late": """
import collections
def f():
    import numpy
    return numpy.arange(3)
x = f()
import heapq
import numpy as np
print(x, np.sum(x))
""",
    "numpy after another path": """
import sys
x = sys.path.append("/tmp")
import numpy as np
print(np.arange(3))
""",
    "statistics, fractions": "import statistics, fractions, cmath, numbers\nprint(statistics.mean([1, 2]), fractions.Fraction(3, 6), cmath.sqrt(-1), isinstance(1, numbers.Number))\n",
    "native id of the main thread": "import threading\nprint(threading.main_thread().native_id == threading.get_native_id())\n",
    "pid in /proc": "import os\nprint(os.readlink('/proc/self'), os.getpid(), os.getppid())\n",
    "start time of the log": "import logging\nimport time\nprint(time.time() - logging._startTime < 1000, logging.LogRecord('a', 1, 'b', 2, 'c', (), None).relativeCreated < 60000)\n",
    "random numbers in a forked child": """
import numpy.random
import os
state = numpy.random.get_state()[1].tolist()
try:
    if not os.fork():
        print(numpy.random.get_state()[1].tolist() == state, flush=True)
        os._exit(0)
    os.wait()
except OSError as e: print(e)
""",
    "secret in a forked child": """
import multiprocessing
import os
key = bytes(multiprocessing.current_process().authkey)
try:
    if not os.fork():
        print(bytes(multiprocessing.current_process().authkey) == key, flush=True)
        os._exit(0)
    os.wait()
except OSError as e: print(e)
""",
}
