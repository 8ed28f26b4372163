"""Runs: problems, solutions, grading, records, reports, and the commands over them."""

if __name__ == "eval":  # imported from a checkout's root
    import sys

    sys.path.insert(0, __file__.removesuffix("eval/__init__.py") + "src")

    from gradebox._aliases import alias

    alias("eval")
