"""Report and run become the timeline, the range comparison, and the retraces table.

Start at `timeline.py`.
"""
