"""Statistics of a run, computed from its records. Nothing here reads or writes files.

pass_at_k     pass@k of one problem
intervals     confidence intervals
rating        estimated Codeforces rating
time_factor   verdicts at other time limits
counts        counters of a problem, updated record by record
tables        pass@1 by group
summary       all statistics of one run
faults        what all failed solutions failed by
paired        comparison of two runs
"""

from gradebox.eval.results.statistics.counts import LanguageCounts, ProblemCounts, merge_languages
from gradebox.eval.results.statistics.paired import paired
from gradebox.eval.results.statistics.summary import Summary, summarise

__all__ = [
    "LanguageCounts",
    "ProblemCounts",
    "Summary",
    "merge_languages",
    "paired",
    "summarise",
]
