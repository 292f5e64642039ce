"""Slow programs as their users wrote them: recorded, patched, and no longer slow.

Each is trained by `tbslow run`, `tbslow fix --apply` changes it, and it is trained again.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from of_a_kind import few

pytest.importorskip("tensorflow")

pytestmark = [pytest.mark.timed, pytest.mark.tensorflow, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "fixable"


@dataclass(frozen=True)
class Expected:
    """What is to come of a program."""

    cause: str
    line: str
    """That is new."""
    results: str = "Results stay the same."
    left: float | None = 0.05
    """The most of the seconds that may be lost still; None where the patch is only a part of
    the fix."""


PROGRAMS = {
    "function_in_loop": Expected("retracing", "@tf.function"),
    "wrapped_in_loop": Expected("retracing", "    step = tf.function(update)  # fast"),
    "optimizer_in_loop": Expected(
        "optimizer_state", "optimizer = tf.keras.optimizers.SGD(learning_rate=0.001)"
    ),
    "compile_in_loop": Expected("retracing", 'model.compile("sgd", "mse")'),
    "load_in_loop": Expected("retracing", "teacher = tf.keras.models.load_model(path)"),
    "number_argument": Expected(
        "retracing",
        "    losses.append(float(train_step(features, labels, tf.constant(rate, tf.float32))))",
        "Results stay the same except for rounding.",
    ),
    "other_lengths": Expected("retracing", "@tf.function(reduce_retracing=True)"),
    "predict_in_loop": Expected("retracing", "    value = model.predict_on_batch(state)"),
    "collect_in_loop": Expected("garbage_collection", ""),
    "collect_by_itself": Expected("garbage_collection", "    if number % 100 == 99:"),
    "keeps_all": Expected("checkpointing", "    max_to_keep=3,  # all", left=None),
    "saves_often": Expected(
        "checkpointing",
        "saver = tf.keras.callbacks.ModelCheckpoint(path, save_freq=100, verbose=0)",
        left=0.3,
    ),
    "board_each_batch": Expected(
        "callbacks",
        "board = tf.keras.callbacks.TensorBoard("
        'tempfile.mkdtemp(), histogram_freq=0, update_freq="epoch")',
    ),
    "slow_callback": Expected("callbacks", "        if batch % 100:", left=0.2),
    "not_cached": Expected(
        "input_pipeline", "    data = data.map(prepare, num_parallel_calls=2).cache()"
    ),
    "map_before_batch": Expected(
        "input_pipeline",
        "data = data.batch(1500).map(lambda x: tf.cast(x, tf.float32) / 255.0 - 0.5).prefetch(2)",
        "Results stay the same except for rounding.",
    ),
    "incomplete_cache": Expected(
        "input_pipeline", "data = data.map(prepare).take(32).cache().batch(4).prefetch(2)"
    ),
}


def tbslow(folder: Path, *words: str) -> tuple[str, str]:
    """Output and messages of a command that succeeds."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, "-m", "tb_slowdown_plugin", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def advice(folder: Path, logdir: str, cause: str) -> list[dict[str, str]]:
    """Of a cause, as a script reads it."""
    report: dict[str, Any] = json.loads(tbslow(folder, "report", logdir, "--format", "json")[0])
    (found,) = (each for each in report["runs"][0]["causes"] if each["cause"] == cause)
    return list(found["advice"])


def seconds_lost(folder: Path, logdir: str) -> dict[str, float]:
    """By cause."""
    report: dict[str, Any] = json.loads(tbslow(folder, "report", logdir, "--format", "json")[0])
    (run,) = report["runs"]
    return {each["cause"]: each["lost_seconds"] for each in run["causes"]}


@pytest.mark.parametrize(
    "name",
    few(PROGRAMS, "function_in_loop"),
)
def test_the_patch_of_a_program_takes_its_cause_away(name: str, tmp_path: Path) -> None:
    expected, script = PROGRAMS[name], f"{name}.py"
    path = Path(shutil.copy(FOLDER / script, tmp_path))
    before, _ = tbslow(tmp_path, "run", "--logdir", "before", script)
    causes = seconds_lost(tmp_path, "before")
    if causes.get(expected.cause, 0.0) < 0.25 * causes.get("cpu_contention", 0.0):
        pytest.skip("other programs took the cores, and the seconds of the cause are theirs")
    lost = causes[expected.cause]
    original = path.read_text()

    (first,) = advice(tmp_path, "before", expected.cause)[:1]
    assert first["kind"] == "patch"
    assert first["where"].startswith(f"{script}:")
    assert not expected.line or f"+ {expected.line}" in first["code"].splitlines()

    diff, said = tbslow(tmp_path, "fix", "before", "--cause", expected.cause, "--apply")
    assert expected.results in said
    patched = path.read_text()
    path.write_text(original)
    subprocess.run(["git", "apply", "-"], input=diff, cwd=tmp_path, text=True, check=True)
    assert path.read_text() == patched
    added = [line[1:] for line in diff.splitlines() if line.startswith("+")][1:]
    assert expected.line in added or not (expected.line or added)

    after, _ = tbslow(tmp_path, "run", "--logdir", "after", script)
    assert after == before
    left = seconds_lost(tmp_path, "after").get(expected.cause, 0.0)
    assert expected.left is None or left < expected.left * lost
