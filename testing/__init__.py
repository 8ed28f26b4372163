"""Test material shared by tests/ and benchmarks/; it imports the product and never from tests/.

fakes/          scripted_sandbox: a sandbox that runs nothing; fake_drivers: the grader over it as a
                process to be interrupted; records: grading records to start from
rows            tables of tests as JSON lines beside the test
commands        commands as a user runs them, and what they print
submissions/    the corpus of programs: model (a row), table.jsonl (the rows); the
                programs are in programs/
submissions/codeforces/   solutions of real problems with their intended verdicts
submissions/hostile/      attacks on the sandbox, and the harness that runs them
"""
