"""Clocks inside TensorFlow graphs: timestamps in a graph become seconds of the training thread.

The flow: `graph_clock` adds up in the graph -> `graph_wait` says of what -> `graph_account` reads
the sum and books it. Start at `graph_account.GraphAccount`.
"""
