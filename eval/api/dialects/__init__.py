"""The server in the dialects of other servers, so that their clients need no change.

| dialect       | routes                                                        | file            |
|---------------|---------------------------------------------------------------|-----------------|
| SandboxFusion | /run_code, /submit, /list_datasets, /get_prompts, /v1/ping …  | fusion/         |
| open-instruct | /test_program, /test_program_stdio                            | open_instruct.py |
| OpenRLHF      | /get_reward                                                   | openrlhf.py     |
| NeMo Gym      | /verify, /seed_session, /close_session, /aggregate_metrics …  | nemo_gym.py     |
| Judge0        | /submissions, /submissions/batch, /languages, /about …        | judge0/         |
| Jobe          | /jobe/index.php/restapi/runs, /languages, /files/{id}         | jobe.py         |
| open-r1       | /execute_batch                                                | open_r1.py      |

    body ─ a dialect ─▶ one grading call (grading_calls.py), or one run (programs.py) ─▶ answer

A dialect is a function that returns its routes. Bodies are hostile: each is read as a struct of its
fields (`read` in common.py).
"""

from __future__ import annotations

from collections.abc import Mapping

from gradebox.eval.api.dialects import (
    fusion,
    jobe,
    judge0,
    nemo_gym,
    open_instruct,
    open_r1,
    openrlhf,
)
from gradebox.eval.api.dialects.common import answering
from gradebox.eval.api.dialects.programs import ProgramRunner
from gradebox.eval.api.grading_calls import GradingCalls
from gradebox.sandbox.server.settings import AnyRoute, WithParameters

DIALECTS = (
    *(fusion.routes, open_instruct.routes, openrlhf.routes, nemo_gym.routes),
    *(judge0.routes, jobe.routes, open_r1.routes),
)


def dialect_routes(
    calls: GradingCalls, programs: ProgramRunner
) -> Mapping[tuple[str, str], AnyRoute]:
    """Return the routes of all dialects by method and path."""
    return {
        place: route if isinstance(route, WithParameters) else answering(route)
        for routes in DIALECTS
        for place, route in routes(calls, programs).items()
    }
