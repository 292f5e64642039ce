"""What training writes: checkpoints, summaries, captures, files.

Start at `checkpoints.py`.
"""
