"""Record what a real Piston answers: python -m tests.sandbox.server.compared.record URL

The server's settings must be those of SETTINGS, and it must have the packages python (3.x), gcc
and codeforces (1.0.0 of guipenedo/piston's releases).
"""

import json
import sys
from pathlib import Path

from .conversations import CONVERSATIONS, talk
from .normal import ask
from .table import REQUESTS

ANSWERS = Path(__file__).with_name("answers.json")
SETTINGS = {
    "PISTON_OUTPUT_MAX_SIZE": 65536,
    "PISTON_RUN_TIMEOUT": 5000,
    "PISTON_RUN_CPU_TIME": 5000,
    "PISTON_COMPILE_TIMEOUT": 10000,
    "PISTON_COMPILE_CPU_TIME": 10000,
}

if __name__ == "__main__":
    answers = {case.name: ask(sys.argv[1], case) for case in REQUESTS}
    answers |= {f"socket: {c.name}": talk(sys.argv[1], c) for c in CONVERSATIONS}
    lines = (f"{json.dumps(n)}: {json.dumps(a, ensure_ascii=False)}" for n, a in answers.items())
    ANSWERS.write_text("{\n" + ",\n".join(lines) + "\n}\n")
