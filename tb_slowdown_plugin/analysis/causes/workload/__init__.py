"""Findings that are healthy after all: scheduled work and more work per step.

`more_work` is asked before the causes, `scheduled` after them.
"""
