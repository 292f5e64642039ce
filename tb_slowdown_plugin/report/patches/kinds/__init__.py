"""The kinds of patches, in families: each `find` gives those against a cause.

Start at `predict_calls.find`, the shortest.
"""
