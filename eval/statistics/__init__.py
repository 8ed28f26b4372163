"""Numbers worth publishing, from the records of a run: pure functions, nothing is read here.

pass_at_k     pass@k of one problem
intervals     confidence intervals
rating        estimated Codeforces rating
time_factor   verdicts at other time limits
tally         counters a problem, filled record by record
tables        pass@1 by group
summary       everything told of one run
paired        two runs compared
"""

from eval.statistics.intervals import Interval, bootstrap_mean, interval_of_mean, wilson
from eval.statistics.paired import paired
from eval.statistics.pass_at_k import pass_at_k
from eval.statistics.rating import estimated_rating
from eval.statistics.summary import Summary, summarise
from eval.statistics.tally import Share, Tally, shares

__all__ = [
    "Interval",
    "Share",
    "Summary",
    "Tally",
    "bootstrap_mean",
    "estimated_rating",
    "interval_of_mean",
    "paired",
    "pass_at_k",
    "shares",
    "summarise",
    "wilson",
]
