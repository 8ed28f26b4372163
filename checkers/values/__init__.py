"""Tests that call a solution's functions: values as data, the programs in the boxes, the judges.

codec.py, peer.py            values ◀─▶ JSON, calls between two programs
call_side, peer, tester_side  what runs in the boxes of a solution and of its tests
joined_side                  what runs both in one process, with a mark
programs.py                  puts those texts and the solution together
judging.py                   compares what came back with what was expected
literals.py                  the same for programs in other languages
"""
