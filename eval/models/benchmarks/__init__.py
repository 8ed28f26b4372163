"""Benchmarks by configuration: which questions are asked, how answers are read and judged.

    configs/x.json ─▶ Benchmark ─▶ rows ─process▶ Sample ─prompt▶ Request ─▶ server
                                                                    │
    metrics.json, predictions.json ◀─evaluate─ prediction ◀─extract─┘   (pal: run in the sandbox)

A configuration names a function of each kind. `registry` has the tables of these names; nothing
in a configuration is evaluated as code.

    rows           process functions      a row of a test file → a Sample
    registry       prompts                a Sample → the text a model gets
    extraction     extraction functions   a model's output → the answers in it
    evaluators     eval functions         the answers → right or wrong
"""
