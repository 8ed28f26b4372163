"""The server in the dialects of other servers, so that their clients need no change.

| dialect       | routes                                                        | file            |
|---------------|---------------------------------------------------------------|-----------------|
| SandboxFusion | /run_code, /submit, /list_datasets, /get_prompts, /v1/ping …  | fusion/         |
| open-instruct | /test_program, /test_program_stdio                            | trainers.py     |
| OpenRLHF      | /get_reward                                                   | trainers.py     |
| NeMo Gym      | /verify, /seed_session, /close_session, /aggregate_metrics …  | trainers.py     |
| Judge0        | /submissions, /submissions/batch, /languages, /about …        | judge0.py       |
| Jobe          | /jobe/index.php/restapi/runs, /languages, /files/{id}         | jobe.py         |
| open-r1       | /execute_batch                                                | open_r1.py      |

    body ─ a dialect ─▶ one grading call (service.py), or one run (programs.py) ─▶ answer

A dialect is a function that returns its routes, and the form of its errors. Bodies are hostile:
each is read as a struct of its fields (`read` in common.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradebox.eval.api.dialects import fusion, jobe, judge0, open_r1, trainers
from gradebox.eval.api.dialects.common import answering, fastapi_form
from gradebox.sandbox.server.settings import Routes

if TYPE_CHECKING:
    from gradebox.eval.api.service import GradeService

DIALECTS = (
    *((one.routes, fastapi_form) for one in (fusion, trainers, open_r1)),
    (judge0.routes, judge0.judge0_form),
    (jobe.routes, jobe.jobe_form),
)


def dialect_routes(service: GradeService) -> Routes:
    """Return the routes of all dialects."""
    return {
        place: answering(route, form)
        for routes, form in DIALECTS
        for place, route in routes(service).items()
    }
