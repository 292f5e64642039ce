"""Where it lies: in which line of the program, and in which part of the step.

Start at `sampled_places.py`; `stage_lines.py` has the lines that make the stages of a pipeline.
"""
