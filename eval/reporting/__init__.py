"""The report of a run: one HTML page made from its records.

    record… ─▶ Summary, LimitUsage         ─┐
            ─▶ row (a line of the table)    ├─ Chunks ─ html_page ─▶ report.html [+ report_data/]
            ─▶ detail (its cases and texts) ─┘

Everything that a program, a checker or a model wrote is untrusted. It enters the page as JSON
of pure ASCII without `<`, and the page's script inserts it as text only.
"""
