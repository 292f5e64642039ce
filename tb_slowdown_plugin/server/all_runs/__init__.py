"""All runs of a logdir judged in the background, once for each version of a run.

Start at `verdicts.Verdicts`.
"""
