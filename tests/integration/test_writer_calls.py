"""What the calls of `tbslow` record in a real program, and which of them are refused."""

from __future__ import annotations

import pytest

tf = pytest.importorskip("tensorflow")

from integration.written import chunks, numbers  # noqa: E402

import tbslow  # noqa: E402
from tb_slowdown_plugin.records.types import Epoch, Trace  # noqa: E402

pytestmark = [pytest.mark.tensorflow, pytest.mark.usefixtures("no_monitor_is_left")]


def test_two_monitors_are_refused(tmp_path):
    with (
        tbslow.start(tmp_path),
        pytest.raises(tbslow.UsageError, match="a monitor is already running in this process"),
    ):
        tbslow.start(tmp_path / "second")
    assert not (tmp_path / "second").exists()
    tbslow.start(tmp_path / "third").stop()


@pytest.mark.parametrize("logdir", [None, "", 3, b"x"])
def test_what_is_no_directory_is_refused(logdir):
    with pytest.raises(tbslow.UsageError, match="expected a path"):
        tbslow.start(logdir)


def test_disable_takes_a_list_of_names(tmp_path):
    with pytest.raises(tbslow.UsageError, match="disable='gc' is one text"):
        tbslow.start(tmp_path, disable="gc")
    with pytest.raises(
        tbslow.UsageError, match=r"disable=\['gcc'\]: unknown collector. Choose from .*gc,"
    ):
        tbslow.start(tmp_path, disable=["gcc", "gc"])
    with tbslow.start(tmp_path, disable=("gc",)), tbslow.summary.step():
        pass
    states = {state.name: state.status for state in chunks(tmp_path)[0].environment.collectors}
    assert states["gc"] == "off"


@pytest.mark.parametrize(
    "call",
    [
        lambda: tbslow.summary.step(),
        lambda: tbslow.summary.phase("forward"),
        lambda: tbslow.summary.epoch(0),
        lambda: tbslow.summary.note("shard 2"),
        lambda: tbslow.summary.allocator("GPU:0", bytes_in_use=1),
        lambda: tbslow.summary.retrace("f", seconds=1.0, reason="x"),
    ],
)
def test_with_nowhere_to_write_to_a_call_is_refused(call):
    with pytest.raises(tbslow.UsageError, match="has nowhere to write to: no monitor is active"):
        call()


def test_a_step_inside_a_tf_function_is_refused(tmp_path):
    @tf.function
    def train_step(x):
        with tbslow.summary.step():
            return x + 1.0

    with tbslow.start(tmp_path):
        with pytest.raises(tbslow.UsageError, match=r"inside a tf\.function"):
            train_step(tf.constant(1.0))
        with tbslow.summary.step(4):
            pass
    assert numbers(tmp_path) == [4]


def test_signals_and_retraces_can_be_logged_by_hand(tmp_path):
    with tbslow.start(tmp_path):
        with tbslow.summary.step():
            tbslow.summary.allocator("pool", bytes_in_use=10, peak_bytes=20, limit_bytes=40)
            tbslow.summary.retrace("train", seconds=0.25, reason="length 3 -> 4")
        tbslow.summary.epoch(5)
    found = chunks(tmp_path)[-1]
    signals = found.signals.values
    at = [i for i, v in enumerate(signals["allocator_in_use_bytes:pool"]) if v == 10.0]
    assert len(at) == 1
    assert signals["allocator_peak_bytes:pool"][at[0]] == 20.0
    assert signals["allocator_limit_bytes:pool"][at[0]] == 40.0
    assert "allocator_reserved_bytes:pool" not in signals
    traces = [e.what for e in found.events if isinstance(e.what, Trace)]
    assert [(t.function, t.seconds, t.cause, t.reason) for t in traces] == [
        ("train", 0.25, "reported", "length 3 -> 4")
    ]
    assert Epoch(5) in [e.what for e in found.events]


def test_notes_come_back_in_the_report(tmp_path):
    with tbslow.start(tmp_path):
        tbslow.summary.note("begins here")
        for number in range(20):
            with tbslow.summary.step(number):
                if number == 12:
                    tbslow.summary.note("learning rate 1e-4")
    (report,) = tbslow.report(tmp_path)
    assert [(each.step, each.text) for each in report.annotations] == [
        (0, "begins here"),
        (12, "learning rate 1e-4"),
    ]


def test_a_note_of_a_callback_is_in_its_step_of_fit(tmp_path):
    class Note(tf.keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            if batch == 3:
                tbslow.summary.note("fourth batch")

    model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    watching = tbslow.keras.SlowdownCallback(tmp_path)
    x = tf.zeros((8, 1))
    model.fit(x, x, batch_size=1, verbose=0, callbacks=[watching, Note()])
    (report,) = tbslow.report(tmp_path)
    assert [(each.step, each.text) for each in report.annotations] == [(3, "fourth batch")]


def test_a_note_inside_a_tf_function_is_refused(tmp_path):
    @tf.function
    def train_step(x):
        tbslow.summary.note("traced")
        return x

    with tbslow.start(tmp_path), pytest.raises(tbslow.UsageError, match=r"inside a tf\.function"):
        train_step(tf.constant(1.0))


@pytest.mark.parametrize(
    "call",
    [
        lambda: tbslow.summary.allocator("GPU:0", bytes_in_use=-1),
        lambda: tbslow.summary.allocator("GPU:0", bytes_in_use=1, peak_bytes="x"),
        lambda: tbslow.summary.retrace("f", seconds=float("nan"), reason="x"),
        lambda: tbslow.summary.epoch(-1),
        lambda: tbslow.summary.epoch("one"),
    ],
)
def test_numbers_that_are_none_are_refused(tmp_path, call):
    with tbslow.start(tmp_path), pytest.raises(tbslow.UsageError, match="expected"):
        call()
