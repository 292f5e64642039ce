"""How much of a run is analyzed, and when: at first sight, as a whole, and as it grows.

`analysis` is the value; `first_looks` has the first part of a long run; `incremental` spares
analyses of growing runs.
"""
