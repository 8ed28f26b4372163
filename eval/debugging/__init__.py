"""A case of an earlier run, looked at again.

    results folder ─ find ─▶ record, case ─ reopen ─▶ program, test, checker as in the run
        ├─ explain  runs it again: then and now, side by side      (show lays it out)
        ├─ checking the checker alone, and on what it must accept and reject
        ├─ bundle   files that run without gradebox                (export, shell)
        ├─ listing  cases by reason
        └─ rejudge  grades chosen cases again and writes records and metrics

Everything shown goes through `screen`: programs, checkers, datasets and records are hostile.
"""
