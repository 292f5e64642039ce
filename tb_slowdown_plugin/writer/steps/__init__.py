"""`step()`, `phase()`, `epoch()`: rows of the training thread.

Start at `recorder.Recorder`.
"""
