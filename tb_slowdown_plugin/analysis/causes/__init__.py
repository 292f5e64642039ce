"""Findings become causes with evidence and fixes.

Start at `match.py`; one folder a family, one module a cause.
"""
