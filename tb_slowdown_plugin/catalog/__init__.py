"""What exists and what it is called: causes, accounts, signals, parameters.

Both towers read it, and it imports nothing of them. Start at `causes.py`.
"""
