"""What a graph computes that its step doesn't need: a module for each kind, none needs another.

The flow: `needless_work` asks each of them, by `step_graph.StepGraph`. Start at `second_pass`.
"""
