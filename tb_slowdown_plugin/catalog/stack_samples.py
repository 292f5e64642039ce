"""What is counted of the samples of a line: the numbers of the fact `python_stack`.

One word for the collector that writes it and for the analysis that reads it.
"""

from __future__ import annotations

from typing import Final

SAMPLES: Final = "samples"
"""All of the line."""
OF: Final = "of"
"""All of the set, in any line."""

OWN: Final = "own"
"""In Python of the program, or of what it calls other than TensorFlow, and in no call of C that
goes on."""
FEEDS: Final = "feeds"
"""In a generator or a loader of the program, which makes what its loop gets next."""

GRAPH: Final = "graph"
"""In a `tf.function`, a session, or a gradient: Python has handed on to TensorFlow."""
NO_GRAPH: Final = "no_graph"
"""In TensorFlow or Keras where they run no graph: models that are called, too."""
LONG_OPERATION: Final = "long_operation"
"""Of these, in an operation that went on: it computes much at once."""
CONVERTS: Final = "converts"
"""Where TensorFlow looks at each element of a list, to make a tensor of it."""
COPIES: Final = "copies"
"""Where TensorFlow is given a large array of NumPy, to make a tensor of it."""
EAGER_TRAINING: Final = "eager_training"
"""In a gradient or an update that runs no graph."""
LONG_TRAINING: Final = "long_training"
"""Of these, in an operation that went on."""

WAITS: Final = "waits_"
"""How the names of those begin in which the thread waited."""
WAITS_INSIDE: Final = f"{WAITS}inside"
"""For another thread, inside of Python's own modules."""
WAITS_PAUSED: Final = f"{WAITS}paused"
"""Until a time had passed, such as in `time.sleep`."""
WAITS_ALONE: Final = f"{WAITS}alone"
"""In the line itself, or in another library."""
WAITS_OUTSIDE: Final = f"{WAITS}outside"
"""For what another process sends."""
WAITS_WRITING: Final = f"{WAITS}writing"
"""Until a file was written."""

IN_PACKAGE: Final = "in:"
"""And the name of a package that has advice of its own: in that."""
BESIDE: Final = "beside:"
"""And a line of the program: in which another thread was while this one waited here."""
CALLED_BY: Final = "by:"
"""And a function of the program, by its first line: that had called the place's function."""
