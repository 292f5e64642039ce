"""The kinds of patches, in families: each `find` gives those against a cause."""
