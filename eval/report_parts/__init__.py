"""The report: one HTML page, made from the records of a run.

    record… ─▶ Summary, limits_use          ─┐
            ─▶ row (the table's line)        ├─ chunks ─ page ─▶ report.html [+ report_data/]
            ─▶ detail (its cases, its texts) ─┘

Everything a program, a checker or a model wrote is hostile. It enters the page as JSON in pure
ASCII without `<`, and the page's script only ever sets it as text.
"""
