"""Patches of the reader's own source: `finder.find_fixes` from a run, `diff.unified_diff` to text.

In the order of the flow: `source` (text and tree), `syntax` (questions to a tree), `evidence`
(what a finder is given), one module for each family of patches, `finder`, `diff`.
"""
