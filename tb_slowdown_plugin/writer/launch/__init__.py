"""Trains a program under the monitor without changing a line of it: `tbslow run`.

The flow: `run_script` replaces the process by `python SCRIPT.py ARGS`, with `boot/` first on
its path -> `boot/sitecustomize` takes every trace of that away and installs `import_watch` ->
that calls `unasked.begin` once TensorFlow is imported -> `training/` makes steps and epochs of
what trains -> `end_report` has the verdict printed when the program ends.
"""
