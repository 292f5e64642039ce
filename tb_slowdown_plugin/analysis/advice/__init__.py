"""What to change, one module per group of causes: text, code for this program, price.

A line of code starts with "+" (new), "-" (remove) or " " (context). Every
snippet is run by `tests/docs/test_advice_snippets.py`.
"""
