"""Causes in memory.

Start at `garbage_collection.explain`.
"""
