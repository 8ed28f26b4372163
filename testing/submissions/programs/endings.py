"""Ends in the way its input names, after it has printed a right answer."""

import os
import sys

way, *rest = input().split()
print(6)
if way == "exit()":
    exit()
if way == "quit()":
    quit()
if way == "sys.exit(0)":
    sys.exit(0)
if way == "sys.exit(None)":
    sys.exit()
if way == "SystemExit":
    raise SystemExit
if way == "os._exit":
    sys.stdout.flush()
    os._exit(0)
if way == "lost":
    os._exit(0)
if way == "code":
    sys.exit(int(rest[0]))
if way == "text":
    sys.exit("something went wrong")
if way == "raise":
    raise ValueError("a strange text: \ud800 \u202e")
if way == "index":
    [][0]
if way == "zero":
    1 // 0
if way == "interrupt":
    raise KeyboardInterrupt
if way == "assert":
    assert way == "", "not so"
if way == "recursion":
    (f := lambda: f())()
if way == "kill":
    os.kill(os.getpid(), int(rest[0]))
if way == "abort":
    os.abort()
if way == "segfault":
    import ctypes

    ctypes.string_at(0)
if way == "atexit":
    import atexit

    atexit.register(print, 7)
