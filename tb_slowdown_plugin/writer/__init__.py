"""The training process: steps, background writing, the public API behind `tbslow`.

The flow: `steps/` appends in the training thread -> `monitor.Monitor` ticks in the background ->
`session.WriterSession` makes records of it with `sampling/` and `output/` -> event files.
Start at `monitor.start`. `keras/` and `launch/` make steps where the program doesn't.
"""
