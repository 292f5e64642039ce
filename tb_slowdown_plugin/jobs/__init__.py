"""Work on reports that goes on after they are made: watching, and experiments on a program.

`watch.Watch` looks again and again -> `notices` (what is new) -> `delivery`.
`experiments` runs a program with and without a change -> `trial_process` -> `speedup`.
"""
