"""A program that turns slow at step 1,000, captured by itself: the comparison names what it was."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

import tbslow
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.profiler.compare import CaptureComparison, compare
from tb_slowdown_plugin.profiler.digest import captured_in, recorded_steps
from tb_slowdown_plugin.profiler.read import read_trace
from tb_slowdown_plugin.profiler.sessions import find_sessions
from tb_slowdown_plugin.reader.logdir import read_runs
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Capture, Fact
from tb_slowdown_plugin.writer.on_slowdown.profile_on_slowdown import TensorFlowProfiler

pytestmark = [pytest.mark.timed, pytest.mark.tensorflow, pytest.mark.slow]
tf = pytest.importorskip("tensorflow")

FAST, MOST_SLOW = 1000, 2000
"""The run turns slow at step 1,000 and ends when that has been captured, or after 2,000 more."""
STEP_SECONDS, MORE_SECONDS = 0.004, 0.012
LOOK = 50
"""Steps between flushes, so that the test need not wait until the monitor writes by itself."""


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
        rows = tf.where(step < FAST, 30, 1400) if not stage_slows else tf.constant(30)
        big = tf.ones((rows, 1400))
        return tf.reduce_sum(matrix) + tf.reduce_sum(tf.matmul(big, big, transpose_b=True))

    dataset = tf.data.Dataset.range(FAST + MOST_SLOW).map(load)
    earlier = 0
    with tbslow.start(logdir, profile_on_slowdown=True) as monitor:
        for step, data in enumerate(tbslow.data(dataset)):
            with tbslow.summary.step(step):
                update(data, tf.constant(step)).numpy()
            if step % LOOK == LOOK - 1:
                monitor.flush()
                captures = len(list(logdir.glob("plugins/profile/*/*.xplane.pb")))
                # A busy machine may have made the run slower before: that is captured, too.
                earlier = captures if step < FAST else earlier
                if captures > earlier:
                    break
    (run,) = read_runs(str(logdir), warn=print)
    return run


def train_undisturbed(folder: Path, stage_slows: bool) -> tuple[Path, Run]:
    """A run with one capture of the fast steps and one of the slow ones, and its logdir.

    Neighbours on the machine can slow the fast steps down, or hide that the slow ones are slow;
    what is captured then tells of them. Such a run is made again, and the third one counts.
    """
    for number in range(3):
        logdir = folder / str(number)
        run = train(logdir, stage_slows)
        captured = [
            (event.row >= FAST, bool(event.what.numbers["slower"]))
            for event in run.events
            if isinstance(event.what, Fact) and event.what.name == "automatic_capture"
        ]
        if captured == [(False, False), (True, True)]:
            break
    return logdir, run


def compare_captures(logdir: Path, run: Run) -> CaptureComparison:
    by_name = {
        session.name: read_trace(session.files[0].path, recorded_steps(run))
        for session in find_sessions(logdir, ".")
    }
    facts = [e.what for e in run.events if isinstance(e.what, Fact)]
    taken = {f.numbers["slower"]: f.subject for f in facts if f.name == "automatic_capture"}
    assert set(taken) == {0.0, 1.0}
    fast, slow = by_name[taken[0.0]], by_name[taken[1.0]]
    assert fast.steps.row.max() < FAST <= slow.steps.row.min()
    return compare(fast, slow)


@pytest.mark.parametrize(
    ("stage_slows", "named"),
    [pytest.param(True, "::Map", marks=pytest.mark.further), (False, "MatMul")],
)
def test_the_first_line_names_what_turned_slow(
    tmp_path: Path, stage_slows: bool, named: str
) -> None:
    logdir, run = train_undisturbed(tmp_path, stage_slows)
    captures = [e.what for e in run.events if isinstance(e.what, Capture)]
    assert 2 <= len(captures) // 2 <= 4
    assert [capture.running for capture in captures] == [True, False] * (len(captures) // 2)
    found = compare_captures(logdir, run)
    assert named in found.rows[0].name, [(r.name, r.difference) for r in found.rows[:4]]
    spent = run.steps.accounts["profiling"].sum()
    assert spent <= 0.01 * run.steps.period_seconds.sum()
    # The report looks into the captures by itself, and says the same.
    captured = captured_in(logdir, run)
    assert [one.steps for one in captured] == [10] * (len(captures) // 2)
    report = account_for(replace(run, captured=captured)).report
    if stage_slows:
        (waiting,) = (cause for cause in report.causes if cause.cause == "input_pipeline")
        (told,) = (said for said in waiting.evidence if "profiler capture" in said)
        assert "in the stage `Map`" in told
    else:
        (told,) = (said for said in report.notes if "profiler captures" in said)
        assert re.search(r"in host operations \(most in `\w*MatMul", told), told


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
    monkeypatch.setattr(
        "tb_slowdown_plugin.writer.on_slowdown.profile_on_slowdown.EXPECTED_SECONDS", 0.0
    )
    monkeypatch.setattr(
        "tb_slowdown_plugin.writer.on_slowdown.profile_on_slowdown.MOST_FRACTION", 1.0
    )
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
    # Of steady steps, or of slower ones, where other programs have disturbed the first of them.
    assert run.facts("automatic_capture")
    session = find_sessions(tmp_path, ".")[-1]
    assert len(read_trace(session.files[0].path, recorded_steps(run)).steps) == 10
