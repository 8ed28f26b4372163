"""Tests that call a solution's functions: values as data, the programs in the boxes, the judges.

codec.py, peer.py            values ◀─▶ JSON, calls between two programs
call_side, solution_side,
tester_side                  what runs in the boxes, in front of or behind the solution
joined_side                  what runs solution and tests in one process, with a mark
tests_text                    what tests need, for the two that run them
programs.py                  puts those texts and the solution together
judges.py                    compares what came back with what was expected
literals.py                  the same for programs in other languages
"""
