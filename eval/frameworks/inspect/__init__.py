"""inspect_ai: a scorer, data sets as samples, a task of both, and a sandbox.

Loaded by inspect_ai through its entry points as `gradebox.inspect_ai`; nothing else imports it.
"""
