"""One case of a solution: how it runs, alone or with others, and what judges it."""
