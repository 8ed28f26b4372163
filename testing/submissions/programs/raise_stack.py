import resource
import sys

try:
    resource.setrlimit(resource.RLIMIT_STACK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
except (ValueError, OSError) as refused:
    print(refused, file=sys.stderr)
sys.setrecursionlimit(10**5)
print(6)
