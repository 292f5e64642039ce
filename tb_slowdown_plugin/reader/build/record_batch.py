"""What every source of records hands over, be it TensorBoard's data provider or a file."""

from __future__ import annotations

from dataclasses import dataclass

from tb_slowdown_plugin.records.metadata import PLUGIN_NAME


@dataclass(frozen=True, slots=True)
class Record:
    """One record of ours as it lies in the logdir, still packed."""

    tensorboard_run: str
    """The run as TensorBoard names it: "run1/slowdown"."""
    tag: str
    """"slowdown/<session>/<n>"."""
    sequence: int
    """The event's step: the sequence number of the chunk."""
    payload: bytes


def session_of(tag: str) -> str | None:
    """The session in a tag, None for a tag that no writer of ours makes.

    >>> session_of("slowdown/1f3a/2")
    '1f3a'
    """
    parts = tag.split("/")
    return parts[1] if len(parts) == 3 and parts[0] == PLUGIN_NAME else None
