"""Debug single cases of an earlier run, and rejudge chosen ones.

    results folder ─ find ─▶ record, case ─ reopen ─▶ OpenedCase: program, test, checker of the run
        ├─ explain           run it again, compare with the record, print the page
        ├─ export            files that run without gradebox
        ├─ page_parts        cases by reason, parts of pages
        └─ rejudge           what a run (cli/run.py) grades again

Everything is printed through `gradebox.eval.common.terminal`: programs, checkers, datasets and
records are untrusted.
"""
