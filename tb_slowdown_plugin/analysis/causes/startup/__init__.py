"""Causes of a slow start."""
