"""Bytes of an XSpace file become planes, lines, and event columns.

Start at `space.py`.
"""
