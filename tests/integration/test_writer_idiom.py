"""`tbslow.summary.step` with a default `tf.summary` writer and no monitor of its own."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

tf = pytest.importorskip("tensorflow")

from tensorboard.backend.event_processing.event_file_loader import EventFileLoader  # noqa: E402

import tbslow  # noqa: E402
from tb_slowdown_plugin.records.codec import decode  # noqa: E402
from tb_slowdown_plugin.records.types import Epoch  # noqa: E402
from tb_slowdown_plugin.writer import monitor as monitors  # noqa: E402

pytestmark = [pytest.mark.tensorflow, pytest.mark.usefixtures("no_monitor_is_left")]


def read(directory: Path):
    """(chunks of ours, tags of the user's) in all event files of a directory."""
    chunks, tags = [], []
    for file in sorted(directory.glob("*tfevents*")):
        for event in EventFileLoader(str(file)).Load():
            for value in event.summary.value:
                if value.metadata.plugin_data.plugin_name == "slowdown":
                    chunks.append(decode(value.tensor.string_val[0]))
                else:
                    tags.append(value.tag)
    return chunks, tags


def numbers(directory: Path) -> list[int]:
    return [n for chunk in read(directory)[0] for n in chunk.steps.number.tolist()]


def train(steps, scalar=True):
    for number in steps:
        with tbslow.summary.step(number):
            if scalar:
                tf.summary.scalar("loss", 1.0, step=number)


def test_steps_go_into_the_users_own_file_when_the_context_ends(tmp_path):
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        train(range(20))
    assert numbers(tmp_path) == list(range(20))
    assert read(tmp_path)[1] == ["loss"] * 20
    assert len(list(tmp_path.iterdir())) == 1
    environment = read(tmp_path)[0][0].environment
    assert {"tracing", "gc"} <= {c.name for c in environment.collectors if c.status == "running"}


def test_a_flush_of_the_writer_writes_pending_steps(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        train(range(3))
        assert numbers(tmp_path) == []
        writer.flush()
        assert numbers(tmp_path) == [0, 1, 2]
        train(range(3, 5))
        tf.summary.flush()
        assert numbers(tmp_path) == [0, 1, 2, 3, 4]


def test_closing_the_writer_ends_the_session_and_gives_the_writer_back(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        train(range(3))
    assert monitors.active() is not None
    writer.close()
    assert monitors.active() is None
    assert "flush" not in vars(writer)
    assert "close" not in vars(writer)
    assert numbers(tmp_path) == [0, 1, 2]


def test_a_second_default_writer_begins_a_second_session(tmp_path):
    with tf.summary.create_file_writer(str(tmp_path / "a")).as_default():
        train(range(3))
    with tf.summary.create_file_writer(str(tmp_path / "b")).as_default():
        train(range(3, 5))
    assert numbers(tmp_path / "a") == [0, 1, 2]
    assert numbers(tmp_path / "b") == [3, 4]
    sessions = {c.session for name in "ab" for c in read(tmp_path / name)[0]}
    assert len(sessions) == 2


def test_entering_the_same_writer_again_goes_on_with_the_session(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    for number in range(5):
        with writer.as_default():
            train([number])
    active = monitors.active()
    active.flush()
    chunks = read(tmp_path)[0]
    assert len({chunk.session for chunk in chunks}) == 1
    assert numbers(tmp_path) == [0, 1, 2, 3, 4]


def test_a_context_for_each_step_does_not_cost_a_record_for_each_step(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    for number in range(300):
        with writer.as_default():
            train([number], scalar=False)
    monitors.active().stop()
    assert numbers(tmp_path) == list(range(300))
    assert len(read(tmp_path)[0]) < 100


def test_data_phases_and_epochs_belong_to_the_session(tmp_path):
    batches = tbslow.data(range(3))
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        for _ in range(2):
            for _ in batches:
                with tbslow.summary.step(), tbslow.summary.phase("forward"):
                    pass
    chunks, _ = read(tmp_path)
    assert {"input_wait", "forward"} <= set(chunks[0].steps.accounts)
    assert [e.what for c in chunks for e in c.events if isinstance(e.what, Epoch)] == [
        Epoch(0),
        Epoch(1),
    ]


def test_a_step_outside_of_any_writer_is_refused(tmp_path):
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        train(range(2))
    with pytest.raises(tbslow.UsageError, match=r"no default tf\.summary writer"):
        train([2])


def test_a_second_thread_with_a_writer_of_its_own_is_refused(tmp_path):
    raised = []

    def second():
        with tf.summary.create_file_writer(str(tmp_path / "b")).as_default():
            try:
                train([7])
            except tbslow.UsageError as error:
                raised.append(str(error))

    with tf.summary.create_file_writer(str(tmp_path / "a")).as_default():
        train(range(2))
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
        train(range(2, 4))
    assert "a run has one training thread" in raised[0]
    assert numbers(tmp_path / "a") == [0, 1, 2, 3]


def test_start_takes_over_from_the_idiom(tmp_path):
    with tf.summary.create_file_writer(str(tmp_path / "a")).as_default():
        train(range(2))
        with tbslow.start(tmp_path / "b"):
            train(range(2, 5))
    assert numbers(tmp_path / "a") == [0, 1]
    assert numbers(tmp_path / "b" / "slowdown") == [2, 3, 4]


def test_record_if_false_does_not_hide_the_steps(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default(), tf.summary.record_if(False):
        train(range(4))
    assert numbers(tmp_path) == [0, 1, 2, 3]
    assert read(tmp_path)[1] == []


def test_graph_mode_writers_are_no_default_to_write_to(tmp_path):
    with tf.Graph().as_default():
        writer = tf.summary.create_file_writer(str(tmp_path))
        with writer.as_default(), pytest.raises(tbslow.UsageError, match="has nowhere to write"):
            train([0], scalar=False)
