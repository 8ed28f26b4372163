"""verl's sandbox_fusion utilities; runs in its environment. JSON on stdin, JSON on stdout."""

import json
import logging
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from verl.utils.reward_score import default_compute_score, sandbox_fusion
from verl.utils.reward_score.sandbox_fusion.utils import call_sandbox_api, check_correctness

logging.disable(logging.CRITICAL)


def score(url, completion, tests, timeout=10):
    value, metadata = sandbox_fusion.compute_score(
        url + "/run_code", None, 1024, completion, tests, continuous=True, timeout=timeout
    )
    return {"score": value, "status": [one.get("status") for one in metadata]}


def by_source(url, data_source, completion, tests):
    """Return what verl's reward manager computes with reward.sandbox_fusion.url."""
    return default_compute_score(
        data_source,
        completion,
        json.dumps(tests),
        sandbox_fusion_url=url + "/run_code",
        concurrent_semaphore=threading.Semaphore(64),
        memory_limit_mb=1024,
    )


def check(url, tests, code, language="python", timeout=10):
    results, metadata = check_correctness(
        url + "/run_code", tests, code, timeout, language=language
    )
    return {"results": results, "metadata": metadata}


def many(url, count, clients):
    def one(n):
        code = "print(int(input()) ** 2)"
        # waits for 130 s: the machine may be busy with other tests
        answer, error = call_sandbox_api(url + "/run_code", code, str(n), 60, 60, 1024)
        right = error is None and answer["run_result"]["stdout"] == f"{n * n}\n"
        return "right" if right else str(error or answer)[:300]

    with ThreadPoolExecutor(clients) as pool:
        return Counter(pool.map(one, range(count)))


given = json.load(sys.stdin)
print(json.dumps(globals()[given.pop("what")](**given)))
