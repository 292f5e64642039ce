"""Whole passes over the data: their ends, and those in which no step runs.

`input_pipeline.explain` asks both.
"""
