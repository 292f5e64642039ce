"""Numbers become sentences.

Start at `wording.py` (numbers in sentences) and `headline.headline` (the sentence above all).
"""
