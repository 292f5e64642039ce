"""When collectors are read, and what they return.

Start at `sampler.py`.
"""
