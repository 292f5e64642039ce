"""Causes in Python and the machine."""
