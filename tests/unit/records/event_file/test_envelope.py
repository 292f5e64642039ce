"""The event that carries a record: TensorBoard's messages, with each field that readers need."""

from __future__ import annotations

from tensorboard.compat.proto import event_pb2, summary_pb2, types_pb2

from tb_slowdown_plugin.records.event_file.envelope import event_of, first_event, summary_of


def test_a_file_begins_with_its_version() -> None:
    event = event_pb2.Event.FromString(first_event(1.8e9))
    assert (event.wall_time, event.file_version) == (1.8e9, "brain.Event:2")


def test_an_event_has_the_record_its_place_and_whose_it_is() -> None:
    event = event_pb2.Event.FromString(event_of(b"bytes", "slowdown/0a/0", 3, 1.8e9))
    assert (event.wall_time, event.step) == (1.8e9, 3)
    (value,) = event.summary.value
    assert event.summary == summary_of(b"bytes", "slowdown/0a/0")
    assert value.tag == "slowdown/0a/0"
    assert value.tensor.dtype == types_pb2.DT_STRING
    assert list(value.tensor.string_val) == [b"bytes"]
    assert value.metadata.plugin_data.plugin_name == "slowdown"
    assert value.metadata.plugin_data.content == b"\x01"
    assert value.metadata.data_class == summary_pb2.DATA_CLASS_TENSOR
