"""A model's output → the answers in it. The registry imports what is here.

Every function takes (output, sample) and gives a list of texts, empty when there is no answer.
"""
