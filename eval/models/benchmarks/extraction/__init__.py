"""Extraction functions: a model's output → the answers in it.

Each function takes (output, sample) and returns a list of texts, empty without an answer.
`EXTRACTION_FUNCTIONS` of each module is the table of the names in configurations:

choices        letters of options, yes/no/maybe, options by their text
free_answers   numbers, expressions, several answers; answers after 答案是

They share `texts`: announced answers, several answers in one text, numbers.
"""
