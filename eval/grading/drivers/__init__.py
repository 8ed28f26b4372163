"""Driver processes: several Python processes that feed the cores of one machine.

    parent: plan ─ JobQueue ─┬─ work ──▶ driver: Scheduler ─▶ boxes
            records ◀────────┼─ graded ─ driver: Scheduler ─▶ boxes
                             └─ …

One process is bounded by its interpreter's lock. So the parent keeps the plan, the records file and
the signals, and each driver grades whole solutions with a share of the workers. A driver is a
`Child` (sandbox/children). It never holds the data set: the parent sends it the tests of a problem,
or the descriptor of their temporary file.
"""
