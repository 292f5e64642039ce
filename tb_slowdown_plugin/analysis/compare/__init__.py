"""Two groups of runs become differences beyond noise.

Start at `comparison.compare`.
"""
