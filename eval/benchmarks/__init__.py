"""Whole benchmarks by configuration: what is asked, how an answer is read, how it is judged.

    configs/x.json ─▶ Benchmark ─▶ rows ─process▶ Sample ─prompt▶ Request ─▶ server
                                                                    │
    metrics.json, predictions.json ◀─evaluate─ prediction ◀─extract─┘   (pal: run in the sandbox)

The four kinds of function are looked up by the names configurations carry (`registry`);
nothing of a configuration is ever evaluated as code.
"""
