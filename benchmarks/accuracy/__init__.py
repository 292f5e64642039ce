"""How often the engine is right: synthetic runs whose lost seconds are known.

    python -m benchmarks.accuracy

The generator (`quiet.py`, `defects.py`) knows nothing of the engine's constants
and imports nothing of it. Its parameters are frozen: changes to the engine are
tried on `--seed 1` (3, 5, 7, 9), the published table is made with the default seed.
"""
