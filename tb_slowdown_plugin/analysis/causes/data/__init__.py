"""Causes in input, copies, and communication.

Start at `input_pipeline.explain`.
"""
