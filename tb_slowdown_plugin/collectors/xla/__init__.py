"""Calls of jitted functions: recompilations and what they needed.

Start at `collector.XlaCompilations`.
"""
