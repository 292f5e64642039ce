"""Calls of jitted functions: recompilations and what they needed.

The flow: `collector.XlaCompilations` -> `constant_inputs` (what XLA needs by value) ->
`compilations` (which run was new), or `graph_calls` where no Python runs.
"""
