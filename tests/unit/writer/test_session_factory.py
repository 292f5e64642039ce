"""A session of this process: its collectors, and what happens where they can't be made."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.errors import UsageError
from tb_slowdown_plugin.writer import session_factory
from tb_slowdown_plugin.writer.output.outbox import MemorySink
from tb_slowdown_plugin.writer.session_factory import collector_names, create_session

pytest.importorskip("tensorflow")
pytestmark = pytest.mark.tensorflow


def test_names_of_collectors_are_checked() -> None:
    assert collector_names(["gc", "tapes"]) == {"gc", "tapes"}
    with pytest.raises(UsageError, match=r"disable='gc' is one text; .* disable=\['gc'\]"):
        collector_names("gc")
    with pytest.raises(UsageError, match=r"disable=\['gcc'\]: unknown collector. Choose from "):
        collector_names(["gc", "gcc"])


def test_a_session_has_an_id_and_the_index_of_its_worker(monkeypatch) -> None:
    monkeypatch.setenv("TF_CONFIG", '{"cluster": {"worker": ["a", "b"]}, '
                                    '"task": {"type": "worker", "index": 1}}')  # fmt: skip
    asked: list[tuple[str, int]] = []

    def open_sink(session: str, worker: int) -> MemorySink:
        asked.append((session, worker))
        return MemorySink()

    create_session(open_sink)
    create_session(open_sink)
    (first, worker), (second, _) = asked
    assert worker == 1
    assert (len(first), first != second) == (8, True)


def test_a_tensorflow_that_moved_is_told_and_stops_nothing(monkeypatch) -> None:
    def moved() -> None:
        raise ImportError("no module named tensorflow.python.moved")

    monkeypatch.setattr(session_factory, "create_collectors", moved)
    sink = MemorySink()
    session = create_session(lambda *_: sink)
    session.recorder.begin(0)
    session.recorder.end()
    session.flush(final=True)
    assert len(sink.records) == 1
    assert collector_names(["anything"]) == {"anything"}
