"""Points of ordinary scalars, collected from the bytes of events as an event file is read.

No TensorFlow: both ways of writing a scalar are read from the parsed event, a plain number
(`simple_value`: TF1, PyTorch, tensorboardX) and a tensor of the `scalars` plugin (TF2, Flax).
"""

from __future__ import annotations

import math
import struct
from array import array
from typing import Any, Final

import numpy as np
from google.protobuf.message import DecodeError as ProtobufError

from tb_slowdown_plugin.reader.scalars.scalar_series import SCALARS_PLUGIN, ScalarSeries

_MOST_EVENT_BYTES: Final = 1 << 20
"""Larger events are images, graphs and audio."""
_MOST_TAGS: Final = 512
"""Of a run; an honest one has some 30, and a tag a layer makes some hundreds."""
_MOST_POINTS: Final = 20_000_000
"""Of a run, of all tags: 480 MB. Later ones are left out."""
MOST_STEP: Final = 1 << 48
"""More steps than a process can make; a larger claim is hostile."""
MOST_SECONDS: Final = 1e11
"""Unix seconds that a clock can show: the year 5138."""

_FLOAT: Final = 1
_DOUBLE: Final = 2
_FORMATS: Final = {_FLOAT: "<f", _DOUBLE: "<d", 3: "<i", 9: "<q", 19: "<e"}
"""DataType of TensorFlow -> how a number is packed in `tensor_content`."""


class ScalarPoints:
    """Scalars of the writers of one run, in the order in which they are read."""

    def __init__(self) -> None:
        self._points: dict[tuple[str, str], tuple[array[int], array[float], array[float]]] = {}
        self._tensor_tags: set[tuple[str, str]] = set()
        self._count = 0

    def add(self, writer: str, raw: bytes) -> None:
        """Keeps the scalars in the bytes of one event; what is no event holds none."""
        if len(raw) > _MOST_EVENT_BYTES or self._count >= _MOST_POINTS:
            return
        from tensorboard.compat.proto import event_pb2

        try:
            event = event_pb2.Event.FromString(raw)
        except ProtobufError:
            return
        if abs(event.step) > MOST_STEP or not abs(event.wall_time) < MOST_SECONDS:
            return
        for value in event.summary.value:
            number = self._number(writer, value)
            if number is not None:
                self._keep((writer, value.tag), event.step, event.wall_time, number)

    def series(self) -> list[ScalarSeries]:
        """All of them."""
        return [
            ScalarSeries(
                writer,
                tag,
                np.frombuffer(step, np.int64),
                np.frombuffer(time, np.float64),
                np.frombuffer(value, np.float64),
            )
            for (writer, tag), (step, time, value) in self._points.items()
        ]

    def _keep(self, key: tuple[str, str], step: int, time: float, number: float) -> None:
        columns = self._points.get(key)
        if columns is None:
            if len(self._points) >= _MOST_TAGS:
                return
            columns = self._points[key] = (array("q"), array("d"), array("d"))
        columns[0].append(step)
        columns[1].append(time)
        columns[2].append(number)
        self._count += 1

    def _number(self, writer: str, value: Any) -> float | None:
        kind = value.WhichOneof("value")
        if kind == "simple_value":
            return float(value.simple_value)
        if kind != "tensor":
            return None
        key = writer, value.tag
        if value.metadata.plugin_data.plugin_name == SCALARS_PLUGIN:
            self._tensor_tags.add(key)  # later events of a tag may leave the metadata out
        elif key not in self._tensor_tags:
            return None
        return _number_in(value.tensor)


def _number_in(tensor: Any) -> float | None:
    """The one number in a tensor; None if it holds none, or several."""
    for values in (tensor.float_val, tensor.double_val, tensor.int_val, tensor.int64_val):
        if len(values) == 1:
            return float(values[0])
    packed = _FORMATS.get(tensor.dtype)
    if packed is not None and struct.calcsize(packed) == len(tensor.tensor_content):
        (number,) = struct.unpack(packed, tensor.tensor_content)
        return float(number)
    return math.nan if len(tensor.half_val) == 1 else None
