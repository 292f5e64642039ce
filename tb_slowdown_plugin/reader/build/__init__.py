"""Records become sessions, and sessions one run of columns.

Start at `run_builder.py`.
"""
