"""A real TensorFlow loop through `tbslow.start`, read back by TensorBoard's own loader."""

from __future__ import annotations

import getpass
import logging
import os
import re
import socket
import time
from pathlib import Path

import pytest

tf = pytest.importorskip("tensorflow")

from integration.written import chunks, numbers  # noqa: E402
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader  # noqa: E402

import tbslow  # noqa: E402
from tb_slowdown_plugin.records import metadata  # noqa: E402
from tb_slowdown_plugin.records.codec import decode  # noqa: E402
from tb_slowdown_plugin.records.types import Epoch, Trace  # noqa: E402
from tb_slowdown_plugin.writer import monitor as monitors  # noqa: E402

pytestmark = [pytest.mark.tensorflow, pytest.mark.usefixtures("no_monitor_is_left")]


def files(directory: Path) -> list[Path]:
    return sorted(directory.rglob("*tfevents*"))


def test_a_training_loop_is_recorded(tmp_path):
    variable = tf.Variable(1.0)

    @tf.function
    def train_step(batch):
        return variable.assign_add(tf.reduce_sum(tf.cast(batch, tf.float32)) * 1e-6)

    dataset = tbslow.data(tf.data.Dataset.range(100).batch(2))
    with tbslow.start(tmp_path) as monitor:
        assert monitors.active() is monitor
        for _ in range(2):
            for batch in dataset:
                with tbslow.summary.step(items=2), tbslow.summary.phase("forward"):
                    train_step(batch)
            with tbslow.summary.phase("checkpoint"):
                pass
    assert monitor.stopped
    assert len(dataset) == 50
    found = chunks(tmp_path)
    assert numbers(tmp_path) == list(range(100))
    # A busy machine may take so long that it is written more than once.
    for steps in (chunk.steps for chunk in found if len(chunk.steps)):
        assert set(steps.items.tolist()) == {2.0}
        assert (steps.period_seconds >= steps.inside_seconds).all()
        assert {"input_wait", "forward"} <= set(steps.accounts)
        assert (sum(steps.accounts.values()) <= steps.period_seconds + 2e-5).all()
    events = [event.what for chunk in found for event in chunk.events]
    assert [what for what in events if isinstance(what, Epoch)] == [Epoch(0), Epoch(1)]
    traces = [what for what in events if isinstance(what, Trace)]
    assert any(trace.function.endswith("train_step") for trace in traces)
    environment = found[0].environment
    assert environment.versions["tensorflow"] == tf.__version__
    assert {"tracing", "gc"} <= {c.name for c in environment.collectors if c.status == "running"}
    assert found[-1].signals.values["rss_bytes"][-1] > 1e7


def test_the_file_is_what_tensorboard_expects(tmp_path):
    with tbslow.start(tmp_path):
        for _ in range(600):
            with tbslow.summary.step():
                pass
    (file,) = files(tmp_path)
    assert file.parent == tmp_path / "slowdown"
    assert file.name.startswith("events.out.tfevents.")
    events = list(EventFileLoader(str(file)).Load())
    assert events[0].file_version == "brain.Event:2"
    assert [event.step for event in events[1:]] == list(range(len(events) - 1))
    values = [value for event in events for value in event.summary.value]
    for sequence, value in enumerate(values):
        found = decode(value.tensor.string_val[0])
        assert value.tag == metadata.tag(found.session, sequence)
        assert value.metadata.plugin_data.plugin_name == "slowdown"
        assert value.metadata.plugin_data.content == bytes([metadata.SCHEMA_VERSION])
        assert value.metadata.data_class == 2  # DATA_CLASS_TENSOR
        assert value.tensor.dtype == tf.string.as_datatype_enum


def test_nothing_private_is_in_the_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "hunter2-hunter2")
    with tbslow.start(tmp_path / "run"):
        with tbslow.summary.step():
            pass
        tbslow.summary.retrace(
            "f",
            seconds=0.1,
            reason=f"{tmp_path}/data.txt changed",
            location=f"{tmp_path}/train.py:4",
        )
    (file,) = files(tmp_path)
    text = file.name + repr(chunks(tmp_path))
    for private in ("hunter2", str(tmp_path), f"/{getpass.getuser()}/"):
        assert private not in text
    # A host may be called "vm", which is in many a word.
    assert not re.search(rf"\b{re.escape(socket.gethostname())}\b", text)
    assert "data.txt changed" in text
    assert "train.py:4" in text


def test_a_worker_has_a_directory_of_its_own(tmp_path, monkeypatch):
    config = '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}'
    monkeypatch.setenv("TF_CONFIG", config)
    with tbslow.start(tmp_path), tbslow.summary.step():
        pass
    (file,) = files(tmp_path)
    assert file.parent == tmp_path / "slowdown" / "worker-1"
    environment = chunks(tmp_path)[0].environment
    assert (environment.worker_index, environment.worker_count) == (1, 2)


def test_flush_writes_every_finished_step(tmp_path):
    with tbslow.start(tmp_path) as monitor:
        for _ in range(3):
            with tbslow.summary.step():
                pass
        monitor.flush()
        assert numbers(tmp_path) == [0, 1, 2]
        monitor.flush()
        # A sample, or a collector that has started meanwhile, may be told; no step is told again.
        first, *later = chunks(tmp_path)
        assert [len(first.steps), *(len(chunk.steps) for chunk in later)] == [3] + [0] * len(later)


def test_a_step_in_a_graph_loop_is_legal(tmp_path):
    with (
        tbslow.start(tmp_path),
        tf.Graph().as_default(),
        tf.compat.v1.Session() as session,
    ):
        x = tf.constant(1.0)
        for _ in range(3):
            with tbslow.summary.step():
                session.run(x)
    assert numbers(tmp_path) == [0, 1, 2]


def test_an_exception_of_the_training_passes_and_the_steps_are_written(tmp_path):
    error = ZeroDivisionError("the user's own")

    def train():
        with tbslow.start(tmp_path):
            for number in range(5):
                with tbslow.summary.step():
                    if number == 3:
                        raise error

    with pytest.raises(ZeroDivisionError) as caught:
        train()
    assert caught.value is error
    assert numbers(tmp_path) == [0, 1, 2]
    assert monitors.active() is None


def test_a_resumed_run_is_a_second_session_and_loses_nothing(tmp_path):
    for first, last in ((0, 50), (30, 70)):
        with tbslow.start(tmp_path):
            for number in range(first, last):
                with tbslow.summary.step(number):
                    pass
    found = chunks(tmp_path)
    sessions = list(dict.fromkeys(chunk.session for chunk in found))
    assert len(sessions) == 2
    assert sorted(numbers(tmp_path)) == sorted([*range(50), *range(30, 70)])
    assert [chunk.first_row for chunk in found if chunk.sequence == 0] == [0, 0]


def test_a_directory_that_can_not_be_made_costs_one_warning(tmp_path, caplog):
    (tmp_path / "file").write_text("in the way")
    with (
        caplog.at_level(logging.WARNING, "tb_slowdown_plugin"),
        tbslow.start(tmp_path / "file" / "run") as monitor,
    ):
        for _ in range(10):
            with tbslow.summary.step():
                pass
            monitor.flush()
    messages = [r.getMessage() for r in caplog.records if r.name == "tb_slowdown_plugin"]
    assert len(messages) == 1
    assert messages[0].startswith("slowdown monitor: writing failed (")
    assert str(tmp_path) not in messages[0]


def test_a_deleted_directory_stays_deleted_and_costs_one_warning(tmp_path, caplog):
    logdir = tmp_path / "run"
    with caplog.at_level(logging.WARNING, "tb_slowdown_plugin"), tbslow.start(logdir) as monitor:
        for number in range(10):
            with tbslow.summary.step():
                pass
            monitor.flush()
            if number == 4:
                for file in files(logdir):
                    file.unlink()
                (logdir / "slowdown").rmdir()
                logdir.rmdir()
    assert not logdir.exists()
    messages = [r.getMessage() for r in caplog.records if r.name == "tb_slowdown_plugin"]
    assert len(messages) == 1
    assert "the log directory was deleted" in messages[0]


def test_a_deleted_file_is_replaced_and_the_loss_is_on_record(tmp_path):
    with tbslow.start(tmp_path) as monitor:
        for number in range(6):
            with tbslow.summary.step():
                pass
            monitor.flush()
            if number == 2:
                files(tmp_path)[0].unlink()
    found = chunks(tmp_path)
    assert numbers(tmp_path) == [3, 4, 5]
    assert found[0].sequence > 0
    assert any(chunk.environment for chunk in found)
    assert "the log directory was deleted" in repr([chunk.events for chunk in found])
    assert os.listdir(tmp_path / "slowdown")[0].endswith(".1")  # noqa: PTH208


def test_the_declared_end_says_what_is_left_until_the_monitor_is_stopped(tmp_path):
    with tbslow.start(tmp_path, total_steps=1000) as monitor:
        for _ in range(100):
            with tbslow.summary.step():
                time.sleep(0.005)  # less than what holds one step up by chance is no pace
        monitor.flush()
        (live,) = tbslow.report(tmp_path)
    (ended,) = tbslow.report(tmp_path)
    assert (live.remaining.steps, live.ended) == (900, False)
    assert live.remaining.seconds == pytest.approx(9 * live.wall_seconds, rel=0.9)
    assert (ended.remaining, ended.ended) == (None, True)
    with pytest.raises(tbslow.UsageError, match="total_steps=0: expected a number of steps"):
        tbslow.start(tmp_path, total_steps=0)
