"""Compare answers by what they state: sets of whole numbers, named values, formulas of logic."""
