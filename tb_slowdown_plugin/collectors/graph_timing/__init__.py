"""Clocks inside TensorFlow graphs.

The flow: `graph_clock` adds up in the graph -> `graph_wait` says of what -> `graph_account` reads
the sum and books it. Start at `graph_account.GraphAccount`.
"""
