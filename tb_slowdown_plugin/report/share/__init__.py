"""A logdir becomes a zip without private data.

The flow: `archive` chooses the files -> `anonymize` makes them anew; `privacy_scan` looks for what
must not leave.
"""
