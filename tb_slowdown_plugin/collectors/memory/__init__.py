"""Allocators, live tensors, and tapes: bytes and who holds them.

Start at `live_tensors.py`: while memory grows, it asks `tensor_census` who holds it.
"""
