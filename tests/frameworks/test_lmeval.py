"""lm-evaluation-harness 0.4.13: its command with a stub model on tasks of ours."""

import pytest

ENVIRONMENT = "lmeval"
pytestmark = pytest.mark.frameworks
HUMANEVAL = [
    {
        "task_id": f"HumanEval/{n}",
        "prompt": f'def f{n}(x):\n    """Return x + {n}."""\n',
        "entry_point": f"f{n}",
        "test": f"\ndef check(candidate):\n    assert candidate(1) == {n + 1}\n",
    }
    for n in range(4)
]
MBPP = [
    {
        "task_id": n,
        "text": f"Write a function to add {n}.",
        "prompt": f"Write a function to add {n}.",
        "code": f"def add{n}(x):\n    return x + {n}",
        "test_list": [f"assert add{n}({m}) == {m + n}" for m in range(3)],
        "test_imports": ["import math"],
        "test": f"for m in range(100):\n    assert add{n}(m) == math.floor(m + {n})",
    }
    for n in range(11, 14)
]
CONTINUED = {row["prompt"]: f"    return x + {n}\n" for n, row in enumerate(HUMANEVAL)}
ADDED = {row["text"]: row["code"] for row in MBPP}
FENCED = {text: f"{code}\n```\nIt adds." for text, code in ADDED.items()}
# Right for the tests that the prompt shows, wrong for others.
SHOWN = {row["text"]: f"{row['code']} if x < 3 else 0" for row in MBPP}


@pytest.mark.parametrize(
    ("task", "rows", "settings", "scores"),
    [
        ("humaneval", HUMANEVAL, {"answers": CONTINUED}, {"pass@1,create_test": 1.0}),
        ("humaneval", HUMANEVAL, {"model": "dummy"}, {"pass@1,create_test": 0.0}),
        (
            "humaneval",
            HUMANEVAL,
            {"answers": {HUMANEVAL[0]["prompt"]: "    return x\n"}},
            {"pass@1,create_test": 0.25},
        ),
        (
            "humaneval_instruct",
            HUMANEVAL,
            {"answers": {p: f"{code}```\nDone." for p, code in CONTINUED.items()}},
            {"pass@1,create_test": 1.0},
        ),
        ("humaneval_plus", HUMANEVAL, {"answers": CONTINUED}, {"pass@1,create_test": 1.0}),
        ("mbpp", MBPP, {"answers": ADDED}, {"pass_at_1,none": 1.0}),
        ("mbpp", MBPP, {"model": "dummy"}, {"pass_at_1,none": 0.0}),
        ("mbpp_instruct", MBPP, {"answers": FENCED}, {"pass_at_1,extract_code": 1.0}),
        (
            "mbpp_plus",
            MBPP,
            {"answers": SHOWN},
            {"pass_at_1,none": 1.0, "plus_pass_at_1,none": 0.0},
        ),
        (
            "mbpp_plus_instruct",
            MBPP,
            {"answers": FENCED},
            {"pass_at_1,extract_code": 1.0, "plus_pass_at_1,extract_code": 1.0},
        ),
    ],
)
def test_a_task_scores(client, task, rows, settings, scores):
    found = client.call("run", "", task=task, rows=rows, **settings)
    assert {name: found["results"][name] for name in scores} == scores


def test_a_prompt_has_the_examples_of_the_harness(client):
    found = client.call("run", "", task="mbpp", rows=MBPP[:1], model="dummy")
    assert found["prompts"][0].count("[DONE]") == 3
    assert "def similar_elements(test_tup1, test_tup2):" in found["prompts"][0]
    assert found["targets"] == ["\n".join(MBPP[0]["test_list"])]


@pytest.mark.parametrize(
    ("task", "theirs"),
    [
        ("humaneval", "humaneval/humaneval.yaml"),
        ("humaneval_instruct", "humaneval/humaneval_instruct.yaml"),
        ("humaneval_plus", "humaneval/humaneval_plus.yaml"),
        ("mbpp", "mbpp/mbpp.yaml"),
        ("mbpp_instruct", "mbpp/mbpp_instruct.yaml"),
        ("mbpp_plus", "mbpp/mbpp_plus.yaml"),
        ("mbpp_plus_instruct", "mbpp/mbpp_plus_instruct.yaml"),
    ],
)
def test_prompts_are_those_of_the_harness(client, task, theirs):
    keys = [
        "dataset_path",
        "dataset_name",
        "test_split",
        "doc_to_text",
        "gen_prefix",
        "num_fewshot",
    ]
    keys += ["generation_kwargs", "target_delimiter", "output_type"]
    ours, original = client.call("same_words", "", task=task, theirs=theirs, keys=keys)
    assert ours == original and "doc_to_text" in ours
