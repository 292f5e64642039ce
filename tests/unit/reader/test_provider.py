"""Our records in a data provider: which tags are read, in which order, and what is passed over."""

from __future__ import annotations

from types import SimpleNamespace

import event_files
import numpy as np
import pytest

from tb_slowdown_plugin.errors import DecodeError
from tb_slowdown_plugin.reader.provider import ProviderRecords, Tag, records_in_event
from tb_slowdown_plugin.records.types import Chunk, no_signals

CHUNK = Chunk("0123abcd", 3, event_files.STARTED, 0, event_files.make_steps(5), no_signals())


class Provider:
    """Answers like TensorBoard's, and keeps what it was asked."""

    def __init__(self, data) -> None:
        self.data = data
        self.asked: list[tuple[list[str], list[str]]] = []

    def list_tensors(self, _, *, experiment_id, plugin_name, run_tag_filter):
        assert plugin_name == "slowdown"
        return {
            run: {
                tag: SimpleNamespace(max_step=step, max_wall_time=5.0) for tag, step in tags.items()
            }
            for run, tags in self.data.items()
        }

    def read_tensors(self, _, *, experiment_id, plugin_name, downsample, run_tag_filter):
        self.asked.append((sorted(run_tag_filter.runs), list(run_tag_filter.tags)))
        return {
            run: {
                tag: [SimpleNamespace(step=7, numpy=np.array([f"{run} {tag}".encode()], object))]
                for tag in run_tag_filter.tags
            }
            for run in run_tag_filter.runs
        }


def test_tags_tell_how_far_they_have_come() -> None:
    provider = Provider({"run1": {"slowdown/0a/0": 4, "slowdown/0a/1": None}})
    assert ProviderRecords(provider).tags() == {"run1": {"slowdown/0a/0": Tag(4, 5.0)}}


def test_tags_of_a_session_are_read_by_number() -> None:
    provider = Provider({})
    wanted = {"run1": [f"slowdown/0a/{number}" for number in (10, 9, 1)]}
    found = list(ProviderRecords(provider).read(wanted))
    assert [record.tag for record in found] == [f"slowdown/0a/{n}" for n in (1, 9, 10)]
    assert found[0].payload == b"run1 slowdown/0a/1"
    assert found[0].sequence == 7


def test_many_tags_are_read_in_several_requests() -> None:
    provider = Provider({})
    wanted = {"run1": [f"slowdown/0a/{number}" for number in range(300)]}
    assert len(list(ProviderRecords(provider).read(wanted))) == 300
    assert [len(tags) for _, tags in provider.asked] == [256, 44]


def test_our_records_are_found_in_an_event() -> None:
    (record,) = records_in_event("run1", event_files.chunk_event(CHUNK))
    assert (record.tensorboard_run, record.tag, record.sequence) == (
        "run1", "slowdown/0123abcd/0", 3,
    )  # fmt: skip
    assert list(records_in_event("run1", event_files.scalar_event("loss", 1, 0.5))) == []
    assert list(records_in_event("run1", event_files.chunk_event(CHUNK, plugin="other"))) == []


def test_a_broken_event_with_our_name_is_damage() -> None:
    with pytest.raises(DecodeError, match="event is damaged"):
        list(records_in_event("run1", b"\xff\xffslowdown"))
