"""Made rows in the columns of other data sets."""

import base64
import json
import pickle
import zlib
from typing import Any

HUMANEVAL = {
    "task_id": "HumanEval/900",
    "prompt": "def half(x):\n    return x / 2\n\n\ndef double(xs):\n    '''Double each.'''\n",
    "entry_point": "double",
    "canonical_solution": "    return [2 * x for x in xs]\n",
    "test": "def check(candidate):\n"
    "    for i in range(3):\n"
    "        assert candidate([i, 1]) == [2 * i, 2]\n"
    "    assert half(candidate([4])[0]) == 4\n"
    "    assert not candidate([])\n",
}
EVALPLUS = {
    "task_id": "HumanEval/901",
    "prompt": "def double(xs):\n    '''Double each.'''\n",
    "entry_point": "double",
    "canonical_solution": "    return [2 * x for x in xs]\n",
    "test": "def check(candidate):\n    assert candidate([1]) == [2]\n",
    "contract": "",
    "base_input": [[[1, 2]], [[]]],
    "plus_input": [[[0.5]], [[10**9]]],
    "atol": 0,
}
ENAMEL = {
    "task_id": "HumanEval/902",
    "prompt": "def halves(text, n):\n    '''Split a text behind n characters.'''",
    "input_generator": "def generate_input(size, lid, cid):\n"
    "    assert rand_primality(size, lid, cid) >= 2 and len(rand_parens(4, sep=None)) > 0\n"
    "    return rand_parens(size), random.randint(1, size)\n",
    "input_levels": "4 10 100 1000",
    "reference_solution": "    return text[:n], [text[n:]]\n",
    "checker": "def __check(input, answer, output):\n"
    "    return type(output) == type(answer) and output == answer\n",
    "entry_point": "halves",
}
MBPP = {
    "task_id": 900,
    "text": "Write a function to add.",
    "code": "import math\r\ndef sum(a, b):\r\n    return a + b\r\nclass Box:\r\n    pass\r\n",
    "test_setup_code": "box = Box()\r\nbox.size = 3",
    "test_list": ["assert sum(1, 2) == 3", "assert sum(box.size, math.floor(1.5)) == 4"],
    "challenge_test_list": [],
}
LEETCODE = {
    "task_id": "double-all",
    "question_id": 9000,
    "difficulty": "Easy",
    "tags": ["Linked List"],
    "estimated_date": "2024-08-18",
    "starter_code": "class Solution:\n",
    "prompt": "from typing import *\n"
    "class ListNode:\n"
    "    def __init__(self, val=0, next=None):\n"
    "        self.val = val\n"
    "        self.next = next\n"
    "def made(values):\n"
    "    head = None\n"
    "    for value in reversed(values):\n"
    "        head = ListNode(value, head)\n"
    "    return head\n"
    "def values(node):\n"
    "    return [] if node is None else [node.val, *values(node.next)]\n",
    "completion": "class Solution:\n"
    "    def double(self, head: Optional[ListNode]) -> Optional[ListNode]:\n"
    "        if head:\n"
    "            head.val *= 2\n"
    "            self.double(head.next)\n"
    "        return head\n",
    "entry_point": "Solution().double",
    "test": "def check(candidate):\n"
    "    head = made([1, 2])\n"
    "    assert values(candidate(head = head)) == [2, 4]\n"
    "    assert values(head) == [2, 4]\n"
    "    assert candidate(head = None) is None\n",
}


def packed(tests: list[Any]) -> str:
    """Return tests as LiveCodeBench's private ones are packed."""
    data = pickle.dumps(json.dumps(tests), protocol=4)
    return base64.b64encode(zlib.compress(data)).decode()


def call_row(**changes: Any) -> dict[str, Any]:
    """Return a row of LiveCodeBench whose tests are calls of add(a, b)."""
    row = {
        "question_title": "add",
        "question_id": "2900",
        "platform": "leetcode",
        "contest_id": "weekly-contest-1",
        "contest_date": "2024-03-05T00:00:00",
        "starter_code": "class Solution:\n    def add(self, a: int, b: List[int]) -> int:\n",
        "difficulty": "easy",
        "public_test_cases": '[{"input": "2\\n3", "output": "5", "testtype": "functional"}]',
        "private_test_cases": packed([{"input": "-1\n1", "output": "0", "testtype": "functional"}]),
        "metadata": '{"func_name": "add"}',
    }
    return {**row, **changes}


def stdin_row(**changes: Any) -> dict[str, Any]:
    """Return a row of LiveCodeBench whose program prints YES for even numbers."""
    row = {
        "question_title": "even",
        "question_id": "1900_A",
        "platform": "codeforces",
        "contest_id": "1900",
        "contest_date": "2023-11-20T00:00:00",
        "starter_code": "",
        "difficulty": "hard",
        "public_test_cases": '[{"input": "2\\n", "output": "YES\\n", "testtype": "stdin"}]',
        "private_test_cases": packed([{"input": "3\n", "output": "NO\n", "testtype": "stdin"}]),
        "metadata": "{}",
    }
    return {**row, **changes}
