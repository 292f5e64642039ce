"""Programs as they are published do with the monitor what they do without it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

from integration.published_programs import FOLDER, run_pair, timeless
from integration.training_host import TrainingHost
from integration.written import chunks, failures, numbers
from of_a_kind import few

pytestmark = pytest.mark.tensorflow

STEPS = {
    "checkpoint_load_evaluate": 40,
    "custom_train_step": 48,
    "gan": 48,
    "k_fold": 60,
    "mirrored_strategy": 24,
    "reinforcement_learning": 48,
    "text_generation": 45,
    "tf1_session": 32,
    "transfer_learning": 48,
}
"""Of each program, those that it makes under the monitor's eyes."""


IN_THE_GATE = (
    "checkpoint_load_evaluate",
    "custom_train_step",
    "gan",
    "mirrored_strategy",
    "tf1_session",
)
"""One for each way of training: `fit`, with an own step, two functions, replicas, and sessions."""


@pytest.mark.parametrize("name", few(STEPS, *IN_THE_GATE))
def test_output_warnings_and_exit_status_are_the_same_with_the_monitor(
    host: TrainingHost, tmp_path: Path, name: str
) -> None:
    pair = run_pair(host, FOLDER / f"{name}.py", tmp_path)
    assert timeless(pair.watched.stderr) == timeless(pair.plain.stderr)
    assert timeless(pair.watched.stdout) == timeless(pair.plain.stdout)
    assert (pair.plain.returncode, pair.watched.returncode) == (0, 0)
    assert len(numbers(pair.logdir)) == STEPS[name]
    assert failures(pair.logdir) == []
    told = [chunk.environment for chunk in chunks(pair.logdir) if chunk.environment is not None]
    assert [state for state in told[-1].collectors if state.status == "failed"] == []
