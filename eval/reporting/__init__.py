"""What the records of runs say: a page, as a file or served during the run, and comparisons.

    record… ─▶ row (a line of the table), detail (its cases and texts) ─ page ─▶ report.html

Everything that a program, a checker or a model wrote is untrusted. It enters the page in base64, or
as JSON of pure ASCII without `<`, and the page's script inserts it as text only.
"""
