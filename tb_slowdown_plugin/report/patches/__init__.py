"""Patches of the reader's own source: `finder.find_fixes` from a run, `diff.unified_diff` to text.

In the order of the flow: `code` (a file and its tree), `evidence` (what a finder is given),
`kinds` (one module for each family of patches), `finder`, and then `diff`, `apply`, or `advice`.
"""
