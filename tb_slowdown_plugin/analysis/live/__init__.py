"""A growing run becomes a report that keeps what it once confirmed.

Start at `follow.py`.
"""
