"""Rows of the report for products of matrices that take more than they need.

Start at `sparse_products.py`.
"""
