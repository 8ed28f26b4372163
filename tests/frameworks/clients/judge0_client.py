"""Judge0's own SDK; runs in its environment. JSON on stdin, JSON on stdout."""

import json
import os
import sys

given = json.load(sys.stdin)
os.environ["JUDGE0_CE_ENDPOINT"] = given["url"]
os.environ["JUDGE0_EXTRA_CE_ENDPOINT"] = given["url"] + "/extra"
for flavor in ("CE", "EXTRA_CE"):
    os.environ[f"JUDGE0_{flavor}_AUTH_HEADERS"] = "{}"

import judge0  # noqa: E402 - it reads the environment


def run(rows):
    """Run programs in one call, with the language and limits of each; without one the default's."""
    submissions = [
        judge0.Submission(
            **{**row, "language": getattr(judge0, row.get("language", "PYTHON_FOR_ML"))}
        )
        for row in rows
    ]
    found = [judge0.run(submissions=one) for one in submissions[:1]]
    found += judge0.run(client=judge0.CE, submissions=submissions[1:]) if submissions[1:] else []
    return [(int(one.status), one.stdout, one.exit_code) for one in found]


print(json.dumps(run(given["rows"])))
