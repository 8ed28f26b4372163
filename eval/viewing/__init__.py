"""The view of runs: the report's page, served from this machine, with records as they are written.

    records file, growing ─ RecordIndex ─▶ rows (in a temporary database), Summary
        └─ RunView.changes ─▶ what the page asks for every second, and more when it is read
    solutions file, data set ─ RunSources ─▶ program, response, statement
    edited program or input ─ Reruns ─▶ the same records, graded in one box that is kept open

`server.py` answers at `http://127.0.0.1:PORT/TOKEN/`. The page's code is the report's
(`reporting/static`): it asks the server for what a written report has inside.
"""
