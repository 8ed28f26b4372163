"""Test material shared by tests/ and benchmarks/; it imports the product and never from tests/.

fakes/          scripted_sandbox: a sandbox that runs nothing; fake_grading: the grader over it as a
                process to be interrupted; records: grading records to start from
rows            tables of tests as JSON lines beside the test
submissions/    the corpus of programs: model (a row), table_cpp, table_python (the rows), inputs;
                the programs are in programs/
submissions/codeforces/   solutions of real problems with their intended verdicts
submissions/hostile/      attacks on the sandbox, and the harness that runs them
"""
