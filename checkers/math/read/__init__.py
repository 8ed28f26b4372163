"""Read an answer's text into typed values: the tables and the grammar of answers.

text ─▶ normalise ─▶ one spelling ─▶ reader ─▶ structure (values) ─▶ SymPy expression

normalise     characters, commands, percent and degree signs; notation: rewrites.txt, fonts
reader        lists, sets, equations, times; split.py: items, brackets, sets of real numbers
units         an expression and its unit or currency: `60,000 CHF`
tables        numbers in words, Chinese, and the files units.txt (units, currencies), symbols.txt
              (characters, commands, functions) and words.txt (synonyms, Chinese)
expressions/  SymPy expressions
"""
