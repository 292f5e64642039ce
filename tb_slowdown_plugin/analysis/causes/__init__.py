"""Findings become causes with evidence and fixes.

The flow: `match.match_causes` asks each cause's `explain` in turn -> a `common/context.py:Claim`
with its advice. One folder a family, one module a cause, its advice in a module `..._fixes`. What
nobody claims gets `suspects` and stays unexplained.
"""
