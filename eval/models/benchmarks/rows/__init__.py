"""Process functions: a row of a benchmark's test file → a Sample.

fields         read the fields of a row, or raise BadRow
free_answers   questions whose answer is a number, an expression or a name
choices        multiple-choice questions
"""
