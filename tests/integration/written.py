"""What a program has left in its logdir, read as TensorBoard reads it."""

from __future__ import annotations

from pathlib import Path

from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

from tb_slowdown_plugin.records.codec import decode
from tb_slowdown_plugin.records.types import Chunk, Failure


def chunks(directory: Path) -> list[Chunk]:
    return [
        decode(value.tensor.string_val[0])
        for file in sorted(directory.rglob("*tfevents*"))
        for event in EventFileLoader(str(file)).Load()
        for value in event.summary.value
        if value.metadata.plugin_data.plugin_name == "slowdown"
    ]


def numbers(directory: Path) -> list[int]:
    """The step numbers, in the order in which they were written."""
    return [number for chunk in chunks(directory) for number in chunk.steps.number.tolist()]


def failures(directory: Path) -> list[Failure]:
    """What the monitor has recorded of its own failures."""
    return [
        event.what
        for chunk in chunks(directory)
        for event in chunk.events
        if isinstance(event.what, Failure)
    ]
