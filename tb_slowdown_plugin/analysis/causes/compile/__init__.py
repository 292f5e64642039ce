"""Causes in tracing and compilation."""
