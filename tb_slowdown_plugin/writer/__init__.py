"""The training process: steps, background writing, the public API behind `tbslow`."""
