"""Statistics of a run, computed from its records. Nothing here reads or writes files.

pass_at_k     pass@k of one problem
intervals     confidence intervals
rating        estimated Codeforces rating
counts        counters of a problem, updated record by record; pass@1 at other time limits, by
              group
summary       all statistics of one run
apart         figures beside pass@1, and what all failed solutions failed by
paired        comparison of two runs
"""
