"""The embedded box: programs run in isolated, limited and measured processes of this machine.

embedded ─ cores       one running program a physical core
         ├ pool ────── levels (isolation/) ─ layout (file system), seccomp, cgroup
         ├ compiler (toolchains/) ─ find, recipe, gcc
         ├ runner ──── run_request ─ built_program
         ├ process ─── plan, wire ═══ socket ═══ c/launcher.c (compiled by `build`)
         └ execution   from a reply to an Execution
"""

from gradebox.sandbox.box.embedded import EmbeddedSandbox

__all__ = ["EmbeddedSandbox"]
