"""Allocators, live tensors, and tapes: bytes and who holds them.

Start at `live_tensors.py`: while memory grows, it asks `growing_variables` what the program's
variables hold ever more, `tensor_census` how many tensors there are, and `tensor_holders` who
holds them.
"""
