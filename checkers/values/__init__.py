"""Tests that call a solution's functions: values as data, the programs in the boxes, the judges.

codec.py, peer.py            values ◀─▶ JSON, calls between two programs
call_side, solution_side,
tester_side                  what runs in the boxes, in front of or behind the solution
programs.py                  puts those texts and the solution together
judges.py                    compares what came back with what was expected
"""
