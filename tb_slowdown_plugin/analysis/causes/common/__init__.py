"""What several causes use: context, timing, places, fixes.

Start at `context.py`.
"""
