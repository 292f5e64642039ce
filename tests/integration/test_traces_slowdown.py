"""A program that turns slow at step 1,000, captured by itself: the comparison names what it was."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import tbslow
from tb_slowdown_plugin.reader.logdir import read_runs
from tb_slowdown_plugin.records.types import Capture, Fact, Run
from tb_slowdown_plugin.traces.compare import Comparison, compare
from tb_slowdown_plugin.traces.read import read_trace
from tb_slowdown_plugin.traces.sessions import find_sessions
from tb_slowdown_plugin.traces.steps import Recorded
from tb_slowdown_plugin.writer.capture import TensorFlowProfiler

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]
tf = pytest.importorskip("tensorflow")

FAST, SLOW = 1000, 700
STEP_SECONDS, MORE_SECONDS = 0.004, 0.008


def pause(seconds: tf.Tensor) -> tf.Tensor:
    """Takes its time as one operation, without a core to itself."""
    return tf.numpy_function(lambda s: time.sleep(float(s)) or s, [seconds], tf.float32)


def in_stage(step: int) -> tf.Tensor:
    return tf.where(step < FAST, STEP_SECONDS, STEP_SECONDS + MORE_SECONDS)


def train(logdir: Path, stage_slows: bool) -> Run:
    def load(step: tf.Tensor) -> tf.Tensor:
        wait = in_stage(step) if stage_slows else tf.constant(STEP_SECONDS)
        return pause(tf.cast(wait, tf.float32))

    @tf.function
    def update(data: tf.Tensor, step: tf.Tensor) -> tf.Tensor:
        matrix = tf.ones((60, 60)) * data
        rounds = tf.where(step < FAST, 1, 60) if not stage_slows else tf.constant(1)
        big = tf.ones((tf.where(rounds > 1, 1800, 30), 1800))
        return tf.reduce_sum(matrix) + tf.reduce_sum(tf.matmul(big, big, transpose_b=True))

    dataset = tf.data.Dataset.range(FAST + SLOW).map(load)
    with tbslow.start(logdir, profile_on_slowdown=True):
        for step, data in enumerate(tbslow.data(dataset)):
            with tbslow.summary.step(step):
                update(data, tf.constant(step)).numpy()
    (run,) = read_runs(str(logdir), warn=print)
    return run


def compare_captures(logdir: Path, run: Run) -> Comparison:
    recorded = Recorded(run.steps.number, run.steps.ended, run.steps.period_seconds)
    by_name = {
        session.name: read_trace(session.files[0].path, recorded)
        for session in find_sessions(logdir, ".")
    }
    facts = [e.what for e in run.events if isinstance(e.what, Fact)]
    taken = {f.numbers["slower"]: f.subject for f in facts if f.name == "automatic_capture"}
    assert set(taken) == {0.0, 1.0}
    fast, slow = by_name[taken[0.0]], by_name[taken[1.0]]
    assert fast.steps.row.max() < FAST <= slow.steps.row.min()
    return compare(fast, slow)


@pytest.mark.parametrize(("stage_slows", "named"), [(True, "::Map"), (False, "MatMul")])
def test_the_first_line_names_what_turned_slow(
    tmp_path: Path, stage_slows: bool, named: str
) -> None:
    run = train(tmp_path, stage_slows)
    assert len(run.steps) == FAST + SLOW
    captures = [e.what for e in run.events if isinstance(e.what, Capture)]
    assert [capture.running for capture in captures] == [True, False] * 2
    found = compare_captures(tmp_path, run)
    assert named in found.rows[0].name, [(r.name, r.difference) for r in found.rows[:4]]
    spent = run.steps.accounts["profiling"].sum()
    assert spent <= 0.01 * run.steps.period_seconds.sum()


def test_the_programs_own_capture_ends_ours_and_succeeds(tmp_path: Path) -> None:
    profiler, gave = TensorFlowProfiler(), []
    start = tf.profiler.experimental.start

    def give_way() -> None:
        gave.append(profiler.is_on())
        profiler.stop()

    profiler.start(str(tmp_path / "ours"), give_way)
    with tf.profiler.experimental.Profile(str(tmp_path / "theirs")):
        assert profiler.is_on()
    assert gave == [True]
    assert not profiler.is_on()
    assert tf.profiler.experimental.start is start
    assert {path.parts[-5] for path in tmp_path.glob("**/*.xplane.pb")} == {"ours", "theirs"}


def test_a_run_of_keras_is_captured_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tb_slowdown_plugin.writer.capture.EXPECTED_SECONDS", 0.0)
    monkeypatch.setattr("tb_slowdown_plugin.writer.capture.MOST_FRACTION", 1.0)
    model = tf.keras.Sequential([tf.keras.layers.Dense(4)])
    model.compile("sgd", "mse")
    rows = tf.ones((3000, 4))
    data = tf.data.Dataset.from_tensor_slices((rows, rows)).map(
        lambda x, y: (tf.ensure_shape(pause(0.001), ()) * x, y)
    )
    callback = tbslow.keras.SlowdownCallback(tmp_path, profile_on_slowdown=True)
    model.fit(data.batch(2).prefetch(1), callbacks=[callback], verbose=0, shuffle=False)
    assert callback.monitor is not None
    callback.monitor.stop()
    (run,) = read_runs(str(tmp_path), warn=print)
    facts = [e.what for e in run.events if isinstance(e.what, Fact)]
    assert "steady" in {
        "slower" if f.numbers["slower"] else "steady"
        for f in facts
        if f.name == "automatic_capture"
    }
    session = find_sessions(tmp_path, ".")[-1]
    recorded = Recorded(run.steps.number, run.steps.ended, run.steps.period_seconds)
    assert len(read_trace(session.files[0].path, recorded).steps) == 10
