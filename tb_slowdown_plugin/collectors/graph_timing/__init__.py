"""Clocks inside TensorFlow graphs, of input, and of waiting for other workers (`distributed`).

The flow: `graph_clock` adds up in the graph -> `graph_wait` says of what -> `graph_account` reads
the sum and books it. Start at `graph_account.GraphAccount`.
"""
