"""The contract between writer and reader: plugin name, version, tags, directory."""

from __future__ import annotations

from typing import Final

PLUGIN_NAME: Final = "slowdown"
SCHEMA_VERSION: Final = 1
"""Raised when an old reader would misread a new record; it then refuses the record."""

DIRECTORY: Final = "slowdown"
"""Records lie in LOGDIR/slowdown: a second growing event file beside the user's own
would freeze the user's charts in TensorBoard's Python loader."""

WORKER_PREFIX: Final = "worker-"
ROOT_RUN: Final = "."
"""Name of the run whose records lie at the top of a logdir, as TensorBoard has it."""

CHUNKS_PER_TAG: Final = 8
"""TensorBoard's Python loader keeps 10 records a tag unless told otherwise."""


def tag(session: str, sequence: int) -> str:
    """The tag of a chunk: `tag("1f3a", 17)` -> `slowdown/1f3a/2`."""
    return f"{PLUGIN_NAME}/{session}/{sequence // CHUNKS_PER_TAG}"


def run_name(tensorboard_run: str) -> tuple[str, int]:
    """The run as the user knows it, and the worker, of a TensorBoard run name.

    `run_name("run1/slowdown")` -> `("run1", 0)`,
    `run_name("run1/slowdown/worker-2")` -> `("run1", 2)`. Records written into the
    user's own file (the `tf.summary` idiom) keep their name: `run_name("run1")` ->
    `("run1", 0)`.
    """
    parts = tensorboard_run.split("/")
    worker = 0
    last = parts[-1]
    if last.startswith(WORKER_PREFIX) and last[len(WORKER_PREFIX) :].isdecimal():
        worker = int(last[len(WORKER_PREFIX) :])
        parts = parts[:-1]
    if parts[-1:] != [DIRECTORY]:
        return tensorboard_run, 0
    return "/".join(parts[:-1]) or ROOT_RUN, worker
