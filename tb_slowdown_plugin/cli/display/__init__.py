"""What stays or moves on a terminal: the table of `watch`, and the verdict when a program ends.

`watch_display` shows `watch_table`; `end_report` is the verdict.
"""
