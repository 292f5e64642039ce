"""Clocks inside TensorFlow graphs: timestamps in a graph become seconds of the training thread.

Start at `graph_account.py`.
"""
