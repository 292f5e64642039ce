"""Causes in what training writes.

Start at `checkpointing.explain`.
"""
