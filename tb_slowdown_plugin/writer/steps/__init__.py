"""`step()`, `phase()`, `epoch()`: rows of the training thread.

The flow: `recorder.Recorder` reads clocks -> `periods` says where the period began ->
`step_buffer.Pending` holds one tuple a step until the background takes it.
"""
