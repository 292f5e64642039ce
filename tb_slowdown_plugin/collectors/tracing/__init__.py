"""Calls of `tf.function`: traces with their reason, cost, and arguments.

Start at `collector.TraceCollector`.
"""
