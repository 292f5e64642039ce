"""Clocks: exclusive seconds of the training thread.

Collectors open and close accounts on a `stopwatch.Stopwatch`; the writer takes them per step.
"""
