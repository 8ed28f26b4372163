"""`python -m gradebox COMMAND`, and `python PATH/gradebox COMMAND` without an installation."""

import os
import sys

if not __package__:
    sys.path[0] = os.path.realpath(__file__).rsplit("/", 2)[0]

from gradebox._early_signals import main

if __name__ == "__main__":
    sys.exit(main())
