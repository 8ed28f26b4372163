"""The embedded box: programs run in isolated, limited and measured processes of this machine.

embedded ─ cores       one running program a physical core
         ├ compiler (toolchains/) ─ find, recipe, gcc
         └ runner ──── levels (isolation/) ─ layout (file system), seccomp, cgroup
                     ├ run_request ─ built_program
                     └ process ─── wire ═══ socket ═══ c/launcher.c (compiled by `build`)
"""

from gradebox.sandbox.box.embedded import EmbeddedSandbox

__all__ = ["EmbeddedSandbox"]
