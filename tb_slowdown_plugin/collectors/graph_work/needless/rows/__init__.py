"""Rows of a table, or of a product, of which a step needs a few.

Start at `whole_tables.py`.
"""
