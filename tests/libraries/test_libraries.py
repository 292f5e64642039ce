"""Libraries that people use beside TensorFlow do with the monitor what they do without it.

They are in an environment of their own, `.venv-libraries`: `scripts/test` makes it with the small
ones, `scripts/libraries` with all. What is not in it is skipped.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from of_a_kind import few

pytest.importorskip("tensorflow")

from integration.published_programs import FOLDER, timeless, watched
from integration.written import chunks, failures, numbers

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.report_types.observations import SignalState
from tb_slowdown_plugin.reader.logdir import read_runs

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

PROGRAMS = Path(__file__).parent / "programs"


class Library(NamedTuple):
    needs: str
    """Module."""
    steps: int
    accounts: tuple[str, ...] = ()
    """Where some of its time must be."""


LIBRARIES = {
    "inside_pytest": Library("pytest", 8),
    "keras_on_jax": Library("jax", 24, ("checkpoint:ModelCheckpoint", "validation")),
    "legacy_keras": Library("tf_keras", 32, ("checkpoint:ModelCheckpoint", "validation")),
    "mlflow_autolog": Library("mlflow", 24, ("callback:MlflowCallback", "validation")),
    "processes": Library("tensorflow", 20, ("input_wait",)),
    "scikit_learn_wrappers": Library("sklearn", 16),
    "tuner_search": Library("keras_tuner", 126, ("callback:EarlyStopping", "validation")),
    "wandb_callback": Library(
        "wandb", 24, ("callback:WandbMetricsLogger", "checkpoint:WandbModelCheckpoint")
    ),
}


@pytest.fixture(scope="module")
def python(root: Path) -> Path:
    """The interpreter of the environment."""
    found = Path(os.environ.get("TBSLOW_LIBRARIES_VENV", root / ".venv-libraries")) / "bin/python"
    if not found.exists():
        pytest.skip(f"no libraries: {found} is missing; scripts/libraries makes it")
    return found


def start(python: Path, root: Path, folder: Path, source: str) -> subprocess.Popen[str]:
    folder.mkdir()
    (folder / "program.py").write_text(source)
    with (folder / "out").open("w") as out, (folder / "err").open("w") as err:
        return subprocess.Popen(
            [python, "program.py"],
            cwd=folder,
            stdout=out,
            stderr=err,
            text=True,
            env={**os.environ, "PYTHONPATH": str(root), "TF_CPP_MIN_LOG_LEVEL": "3"},
        )


@pytest.mark.parametrize("name", few(LIBRARIES, *(set(LIBRARIES) - {"tuner_search"})))
def test_a_training_is_the_same_with_the_monitor_and_its_time_is_named(
    python: Path, root: Path, tmp_path: Path, name: str
) -> None:
    library = LIBRARIES[name]
    found = f"import importlib.util as u; raise SystemExit(u.find_spec({library.needs!r}) is None)"
    if subprocess.run([python, "-c", found], check=False).returncode:
        pytest.skip(f"no {library.needs}: scripts/libraries installs it")
    places = (PROGRAMS / f"{name}.py", FOLDER / f"{name}.py")
    source = next(path for path in places if path.exists()).read_text()
    plain, seen = tmp_path / "plain", tmp_path / "watched"
    running = [
        start(python, root, plain, source),
        start(python, root, seen, watched(source)),
    ]
    statuses = [process.wait(timeout=300) for process in running]
    for stream in ("err", "out"):
        printed, expected = ((folder / stream).read_text() for folder in (seen, plain))
        assert timeless(printed) == timeless(expected)
    assert statuses == [0, 0]
    logdir = seen / "logs"
    assert len(numbers(logdir)) == library.steps
    assert failures(logdir) == []
    (run,) = read_runs(str(logdir), warn=pytest.fail)
    assert set(library.accounts) <= set(run.steps.accounts)
    if name == "keras_on_jax":
        check_signals_on_jax(account_for(run).report.signals)
    told = [chunk.environment for chunk in chunks(logdir) if chunk.environment is not None]
    assert [state for state in told[-1].collectors if state.status == "failed"] == []


def check_signals_on_jax(signals: Any) -> None:
    states = {state.signal: state for state in signals}
    unseen = "not measured here: Keras runs on JAX"
    for name in ("retraces", "xla_compilation", "graph", "allocator", "live_tensors", "tapes"):
        if states[name].reason.startswith("no allocator"):
            continue  # nor anywhere else on this machine
        assert states[name] == SignalState(name, "unavailable", unseen)
    assert states["input_wait"].status == "partly"
