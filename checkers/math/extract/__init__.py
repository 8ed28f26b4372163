"""Find the answer in a response.

    response ─▶ formats ─▶ document ─▶ answer: SOURCES ─▶ closing: ROWS ─▶ guided

    formats     the model's own text: thoughts, chat markers, next questions
    document    formulas, boxes and sentences of a text, read once
    phrases     what announces, denies, supposes or follows an answer, as tables
    formulas    the values in a sentence
    words       letters, names and numbers in words in a sentence
    closing     what the end of a text states; whether a text is a bare answer
    answer      the order of the sources of an answer
    guided      what the reference answer's kind decides; the reference answer itself

Of read/ it uses: `closing_brace` and `normalise` (normalise), `strip_marks` (tables), `translate`,
`read_number_words`, `NUMBER_WORDS`, `FRACTION_WORDS` (number_words), `kind_of`, `fits`,
`names_value` (kinds), `split_items`, `split_top`, `split_cases`, `COMMA` (split), `UNITS`,
`add_units` (units), `MONTH` (dates).
"""
