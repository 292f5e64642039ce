"""Causes in the model's own work.

Start at `backward_pass.explain`.
"""
