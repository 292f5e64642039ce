"""Iterators and batches: input wait, stages, batch shapes.

Start at `wait.InputWait`: it has the seconds. `stages` and `pipeline_stages` say which stage is
slow, and `batch_shapes` what comes out.
"""
