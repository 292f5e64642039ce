"""Whole passes over the data: their ends, those in which no step runs, and ever longer ones.

`iterator_teardown` has the ends, `unused_passes` those without a step, `longer_pipelines` those
whose dataset is made of the one before, `skipped_parts` those that compute what comes before their
part, `remade_datasets` those that make it again; `input_pipeline` asks all five.
"""
