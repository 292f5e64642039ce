"""Event files of ordinary scalars for tests, as TF1, PyTorch and tensorboardX write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from event_files import frame, version_event
from tensorboard.compat.proto import event_pb2, summary_pb2

from tb_slowdown_plugin.reader.event_files import RecordFile

STARTED = 1_795_000_000.0
STEP_TIMES = Path(__file__).parent / "step_times"


def write_scalars(
    folder: Path,
    step: Sequence[int],
    time: Sequence[float],
    scalars: Mapping[str, Sequence[float]] | None = None,
    *,
    number: int = 0,
) -> Path:
    """An event file with one event a point and all scalars in it; `loss` without any."""
    scalars = scalars or {"loss": 1.0 / (1.0 + np.arange(len(step)))}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"events.out.tfevents.{int(STARTED) + number}.host"
    with path.open("wb") as file:
        file.write(frame(version_event()))
        for row, (at, when) in enumerate(zip(step, time, strict=True)):
            values = [
                summary_pb2.Summary.Value(tag=tag, simple_value=float(each[row]))
                for tag, each in scalars.items()
            ]
            event = event_pb2.Event(
                wall_time=float(when), step=int(at), summary=summary_pb2.Summary(value=values)
            )
            file.write(frame(event.SerializeToString()))
    return path


def recorded(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Step numbers and wall times of the points of a real training (`step_times/README.md`)."""
    with np.load(STEP_TIMES / f"{name}.npz") as data:
        step, period = data["step"].astype(np.int64), data["period"].astype(np.float64)
    between = float(np.median(step))
    return np.cumsum(step), STARTED + np.cumsum(period * between)


def retime(logdir: Path, when: Callable[[str, int], float]) -> None:
    """Sets the wall time of each point below a logdir: real writers, without waiting for them.

    Args:
      logdir: Written to by whoever it is.
      when: Tag and step -> Unix seconds.
    """
    for path in logdir.rglob("*tfevents*"):
        with path.open("rb") as file:
            events = [
                event_pb2.Event.FromString(raw) for raw in RecordFile(file, path.stat().st_size)
            ]
        for event in events:
            tags = [value.tag for value in event.summary.value]
            event.wall_time = when(tags[0], event.step) if tags else STARTED
        path.write_bytes(b"".join(frame(event.SerializeToString()) for event in events))
