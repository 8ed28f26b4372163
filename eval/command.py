"""How a command ends: errors as one line on stderr, exit statuses, Ctrl-C, a reader that left."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable

from eval.stopping import sigterm_like_ctrl_c

# Modules that are installed for some commands only → the extra that brings them.
EXTRAS = {"httpx": "sampling", "tenacity": "sampling", "sympy": "math", "math_verify": "math"}

EXIT_OK = 0
EXIT_INPUT = 2
EXIT_INFRASTRUCTURE = 3
EXIT_INTERRUPTED = 130


def run_command(action: Callable[[], int]) -> int:
    """Runs `action` and turns its errors into one line on stderr and an exit status.

    2 bad input, 3 the server or the sandbox failed, 130 interrupted by Ctrl-C or SIGTERM.
    """
    from eval.input_error import InputError
    from eval.sampling.errors import ServerLost
    from sandbox.errors import SandboxError

    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s", stream=sys.stderr)
    logging.getLogger("gradebox").setLevel(logging.INFO)
    try:
        with sigterm_like_ctrl_c():
            return action()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_INPUT
    except (ServerLost, SandboxError) as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_INFRASTRUCTURE
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        print(
            f"error: {error.name} is not installed; pip install 'gradebox[{extra}]'",
            file=sys.stderr,
        )
        return EXIT_INPUT
    except KeyboardInterrupt:
        print("interrupted; run the same command again to go on", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone; nothing is left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_INTERRUPTED
