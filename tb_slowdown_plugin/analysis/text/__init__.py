"""Numbers become sentences.

Start at `wording.py`.
"""
