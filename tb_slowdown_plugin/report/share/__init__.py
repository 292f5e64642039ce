"""A logdir becomes a zip without private data.

Start at `archive.py`.
"""
