"""SandboxFusion's own client; runs in its environment. JSON on stdin, JSON on stdout."""

import json
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import sandbox_fusion as fusion


def run_code(url, attempts=1, **fields):
    try:
        answer = fusion.run_code(
            fusion.RunCodeRequest(**fields), endpoint=url, max_attempts=attempts, client_timeout=140
        )
    except Exception as error:  # noqa: BLE001 - the client raises plain ones
        return {"raised": f"{type(error).__name__}: {error}"}
    return json.loads(answer.json())


def many(url, count, clients):
    def one(n):
        answer = run_code(url, code="print(int(input()) ** 2)", language="python", stdin=str(n))
        run = answer.get("run_result")
        right = run is not None and run["stdout"] == f"{n * n}\n"
        return "right" if right else str(answer)[:300]

    with ThreadPoolExecutor(clients) as pool:
        return Counter(pool.map(one, range(count)))


def submit(url, **fields):
    request = fusion.SubmitRequest(**fields)
    return json.loads(fusion.submit(request, endpoint=url, max_attempts=1).json())


def submit_safe(url, **fields):
    request = fusion.SubmitRequest(**fields)
    return json.loads(fusion.submit_safe(request, endpoint=url, max_attempts=2).json())


given = json.load(sys.stdin)
print(json.dumps(globals()[given.pop("what")](**given)))
