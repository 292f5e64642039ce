"""Clocks: exclusive seconds of the training thread.

The flow: collectors open and close accounts on a `stopwatch.Stopwatch` -> the writer takes them at
the end of each step. `slowdown_detector` tells from the steps whether they got slower,
`thread_files` what Linux says of a thread, and `end_signal` is what threads in the background wait
for.
"""
