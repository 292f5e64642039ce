"""A file with its syntax tree: questions to it, and what code means.

Start at `source.py` (the file) and `syntax.py` (the questions).
"""
