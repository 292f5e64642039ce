"""Products of matrices that take more than they need.

Start at `repeated_products.py`.
"""
