"""Find the answer in a response.

response ─▶ document ─▶ answer ─▶ closing ─▶ guided

document    the model's own text: no thoughts, chat markers, next questions; its formulas,
            boxes and sentences, read once
answer      the order of the sources of an answer
phrases     what announces, takes back, refuses or follows an answer, as tables; answers in words
formulas    the values in a sentence
closing     what the end of a text states; whether a text is a bare answer
guided      what the reference answer's kind decides; the reference answer itself
"""
