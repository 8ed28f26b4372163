"""Judge0's SDK 0.0.8 against our server: its default language, batches, statuses."""

import pytest

ENVIRONMENT = "judge0"
pytestmark = pytest.mark.frameworks
SQUARE = "#include <iostream>\nint main() { int n; std::cin >> n; std::cout << n * n; }"


def test_programs_run_alone_and_in_batches(client, server):
    rows = [
        ({"source_code": "print('é')"}, [3, "é\n", 0]),
        *(
            ({"source_code": SQUARE, "language": "CPP", "stdin": f"{n}"}, [3, f"{n * n}", 0])
            for n in range(30)
        ),
        ({"source_code": "print(1)", "language": "PYTHON", "expected_output": "2"}, [4, "1\n", 0]),
        ({"source_code": "exit(3)", "language": "PYTHON"}, [11, None, 3]),
        ({"source_code": "import os\nos.abort()", "language": "PYTHON"}, [10, None, 0]),
        ({"source_code": "int main(", "language": "C"}, [6, None, None]),
        (
            {"source_code": "while 1: pass", "language": "PYTHON", "cpu_time_limit": 0.5},
            [5, None, 0],
        ),
    ]
    answers = client.call("run", server.url, rows=[row for row, _ in rows])
    assert answers == [expected for _, expected in rows]
