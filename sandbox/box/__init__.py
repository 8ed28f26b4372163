"""The embedded box: programs run in processes of this machine, isolated, limited, counted.

embedded ─ cores       one running program a physical core
         ├ compiler ─ toolchain, artifact, blob
         ├ levels ─── layout (file system), seccomp + syscalls, cgroup
         ├ process ── wire ═══ socket ═══ launcher.c, setup.c (built by `build`)
         └ evidence   from the answer to an Execution
"""

from sandbox.box.embedded import EmbeddedSandbox

__all__ = ["EmbeddedSandbox"]
