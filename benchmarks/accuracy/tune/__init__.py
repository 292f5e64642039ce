"""Programs in the styles of users that were sealed once, and have been looked at since.

    python -m benchmarks.accuracy.tune [--keep DIRECTORY]

Those in `programs` are scripts, run as they are; the others are functions that mark their steps.
Rules and constants are tuned on them, so that their score says nothing about programs that nobody
has seen: `benchmarks/accuracy/sealed` has those. The first score of these is in docs/accuracy.md.
"""
