"""Read an answer's text into typed values: the tables and the grammar of answers.

    text ─▶ normalise.py ─▶ one spelling ─▶ reader.py ─▶ structure (values.py)
                                                          └▶ expression.py ─▶ SymPy expression

Tables that are data: units.txt (units, currencies), symbols.txt (characters, commands,
functions), words.txt (synonyms, Chinese).
"""
