"""Calls of `tf.function`: traces with their reason, cost, and arguments.

The flow: `collector.TraceCollector` -> `subjects` (which function) -> `functions` and
`argument_changes` (why again) -> `spans` (seconds) -> `first_executions` (the first four runs).
"""
