"""Records go through the default writer of the thread, and its user's flush and close are heard."""

from __future__ import annotations

import threading

import pytest

tf = pytest.importorskip("tensorflow")

from tensorboard.backend.event_processing.event_file_loader import EventFileLoader  # noqa: E402

from tb_slowdown_plugin.writer import tf_summary_monitor as idiom  # noqa: E402
from tb_slowdown_plugin.writer.output.outbox import OutboxRecord  # noqa: E402


@pytest.fixture
def writer(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    yield writer
    writer.close()


def test_the_default_writer_is_that_of_the_thread(writer):
    found = []
    assert idiom.default_writer() is None
    with writer.as_default():
        assert idiom.default_writer() is writer
        thread = threading.Thread(target=lambda: found.append(idiom.default_writer()))
        thread.start()
        thread.join()
    assert found == [None]
    assert idiom.default_writer() is None


def test_without_a_writer_there_is_no_recorder():
    assert idiom.recorder() is None


def test_a_writer_of_a_graph_takes_no_records(writer, tmp_path):
    assert idiom.can_write_to(writer)
    assert not idiom.can_write_to(object())
    with tf.Graph().as_default():
        assert not idiom.can_write_to(tf.summary.create_file_writer(str(tmp_path / "graph")))


def test_records_are_in_the_file_at_once_and_the_writer_stays_open(writer, tmp_path):
    sink = idiom.SummaryWriterSink(writer)
    sink.write(
        [OutboxRecord(b"one", "slowdown/a", 0, 1e9), OutboxRecord(b"two", "slowdown/a", 1, 1e9)]
    )
    sink.close()
    with writer.as_default():
        tf.summary.scalar("loss", 1.0, step=0)
    writer.flush()
    (file,) = tmp_path.glob("*tfevents*")
    found = [
        (value.tag, event.step, value.tensor.string_val[0] if value.tag != "loss" else b"")
        for event in EventFileLoader(str(file)).Load()
        for value in event.summary.value
    ]
    assert found == [("slowdown/a", 0, b"one"), ("slowdown/a", 1, b"two"), ("loss", 0, b"")]


def test_flush_and_close_of_one_writer_are_told(writer, tmp_path):
    told = []
    hook = idiom.WriterHook(writer, lambda: told.append("flush"), lambda: told.append("close"))
    other = tf.summary.create_file_writer(str(tmp_path / "other"))
    other.flush()
    other.close()
    assert told == []
    writer.flush()
    with writer.as_default():
        pass
    assert told == ["flush", "flush"]
    hook.remove()
    writer.flush()
    assert told == ["flush", "flush"]
