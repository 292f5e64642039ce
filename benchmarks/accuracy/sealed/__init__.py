"""Programs in the styles of users on which nobody tried a rule or a constant before.

    python -m benchmarks.accuracy.sealed [--keep DIRECTORY]

Their answers (`answers.py`) were written before any of them was run under the monitor, and
all were run once. What came out is in docs/accuracy.md, whatever it was. Whatever is looked at
afterwards is no longer sealed: it moves to `benchmarks/accuracy/tune`.
"""
