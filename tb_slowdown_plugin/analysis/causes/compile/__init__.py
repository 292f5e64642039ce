"""Causes in tracing and compilation.

Start at `retracing.explain`.
"""
