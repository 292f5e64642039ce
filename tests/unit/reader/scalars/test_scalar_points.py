"""Scalars in the bytes of events, however they were written."""

from __future__ import annotations

import struct

import pytest
from event_files import scalar_event
from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2

from tb_slowdown_plugin.reader.scalars.scalar_points import MOST_STEP, ScalarPoints


def event(value: summary_pb2.Summary.Value, step: int = 3, wall_time: float = 7.0) -> bytes:
    summary = summary_pb2.Summary(value=[value])
    return event_pb2.Event(wall_time=wall_time, step=step, summary=summary).SerializeToString()


def tensor(plugin: str = "scalars", **fields: object) -> summary_pb2.Summary.Value:
    metadata = summary_pb2.SummaryMetadata(
        plugin_data=summary_pb2.SummaryMetadata.PluginData(plugin_name=plugin)
    )
    if not plugin:
        metadata = None
    return summary_pb2.Summary.Value(
        tag="loss", metadata=metadata, tensor=tensor_pb2.TensorProto(**fields)
    )


@pytest.mark.parametrize(
    "value",
    [
        summary_pb2.Summary.Value(tag="loss", simple_value=0.5),
        tensor(dtype=1, float_val=[0.5]),
        tensor(dtype=2, double_val=[0.5]),
        tensor(dtype=1, tensor_content=struct.pack("<f", 0.5)),
        tensor(dtype=2, tensor_content=struct.pack("<d", 0.5)),
        tensor(dtype=19, tensor_content=struct.pack("<e", 0.5)),
    ],
)
def test_each_way_of_writing_a_number(value: summary_pb2.Summary.Value) -> None:
    points = ScalarPoints()
    points.add("run", event(value))
    (series,) = points.series()
    assert (series.writer, series.tag) == ("run", "loss")
    assert (series.step.tolist(), series.time.tolist(), series.value.tolist()) == (
        [3],
        [7.0],
        [0.5],
    )


def test_later_events_may_leave_the_metadata_out() -> None:
    points = ScalarPoints()
    points.add("run", scalar_event("loss", 0, 1.0))
    points.add("run", event(tensor("", dtype=1, float_val=[0.5])))
    points.add("other", event(tensor("", dtype=1, float_val=[0.5])))
    (series,) = points.series()
    assert series.step.tolist() == [0, 3]


@pytest.mark.parametrize(
    "raw",
    [
        b"\xff\xff\xff",
        event(tensor("images", dtype=1, float_val=[0.5])),
        event(tensor(dtype=1, float_val=[0.5, 0.6])),
        event(tensor(dtype=7, string_val=[b"0.5"])),
        event(summary_pb2.Summary.Value(tag="loss", simple_value=1.0), step=MOST_STEP + 1),
        event(summary_pb2.Summary.Value(tag="loss", simple_value=1.0), wall_time=1e300),
        event(summary_pb2.Summary.Value(tag="loss", simple_value=1.0), wall_time=float("nan")),
    ],
)
def test_what_is_no_scalar_is_passed_over(raw: bytes) -> None:
    points = ScalarPoints()
    points.add("run", raw)
    assert points.series() == []


def test_a_tag_that_changes_with_each_step_does_not_fill_the_memory() -> None:
    points = ScalarPoints()
    for step in range(2000):
        value = summary_pb2.Summary.Value(tag=f"step {step}", simple_value=1.0)
        points.add("run", event(value, step))
    assert len(points.series()) == 512
