"""What only graphs tell: what they compute for nothing, and which functions of Python they call.

`counted_work` counts a share of each step, `graph_python` has it timed.
"""
