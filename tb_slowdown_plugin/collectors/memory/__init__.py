"""Allocators, live tensors, and tapes: bytes and who holds them.

Start at `live_tensors.py`: while memory grows, it asks `reachable_tensors` what the
program's variables hold, and `tensor_census` how many there are, and who holds them.
"""
