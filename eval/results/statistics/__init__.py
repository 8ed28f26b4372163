"""Statistics of a run, computed from its records. Nothing here reads or writes files.

intervals     pass@k of one problem, confidence intervals
counts        counters of a problem, updated record by record; pass@1 at other time limits, by
              group
summary       all statistics of one run, with the estimated Codeforces rating
apart         figures beside pass@1, and what all failed solutions failed by
"""
