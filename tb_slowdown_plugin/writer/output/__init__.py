"""Rows and samples become tables, records, and an event file.

Start at `tables.build_steps` and `outbox.py`.
"""
