"""Two defects are two rows, the larger first; steps that change on purpose are no defect.

The table of docs/accuracy.md: `pytest --all -rP tests/integration/test_paired_programs.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from integration.test_called_programs import CALLED, WRITING, run
from integration.training_host import TrainingHost
from of_a_kind import few

pytestmark = [pytest.mark.timed, pytest.mark.tensorflow, pytest.mark.slow]

PROGRAMS = Path(__file__).with_name("paired_programs.py")
PAIRS = {
    "adversarial": {"garbage_collection": "gc.collect", "retracing": "retracing"},
    "longer_episodes": {"retracing": "predict", "disk": "write"},
    "diary_and_slow_map": {"input_pipeline": "input", "callbacks": "diary"},
    "validation_and_load": {"input_pipeline": "evaluate", "retracing": "load_model"},
    "few_long_steps": {"input_pipeline": "input", "disk": "write"},
    "queue_and_collect": {"python_overhead": "wait", "garbage_collection": "gc.collect"},
    "growth_and_checkpoints": {"python_overhead": "growth", "checkpointing": "checkpoint"},
    "pickle_and_collect": {"garbage_collection": "gc.collect", "disk": "write"},
    "predict_and_input": {"retracing": "predict", "input_pipeline": "input"},
    "collect_and_retrace": {"garbage_collection": "gc.collect", "retracing": "retracing"},
}
"""Program -> cause of each defect, and its stopwatch."""
ELSEWHERE = {
    "pickle_and_collect": WRITING,
    "predict_and_input": CALLED,
    "collect_and_retrace": CALLED,
}
"""Program -> its file, of those that stand beside the programs with one defect."""
CROWDED = 0.25
NOISE = 0.05
"""Share of the wall that other programs of a busy machine may make of something else."""


@pytest.mark.parametrize("name", few(PAIRS, "validation_and_load"))
def test_two_defects_are_two_rows_each_as_long_as_its_stopwatch_says(
    host: TrainingHost, name: str, tmp_path: Path
) -> None:
    made = run(host, ELSEWHERE.get(name, PROGRAMS), name, tmp_path)
    truth = {cause: made.seconds[timer] for cause, timer in PAIRS[name].items()}
    ordered = sorted(truth, key=lambda cause: -truth[cause])
    others = [row for row in made.report.causes if row.cause == "cpu_contention"]
    if others and others[0].lost_fraction >= CROWDED:
        pytest.skip("other programs took a quarter of the run: a stopwatch counts that, too")
    large = [row for row in made.named if row.lost_fraction >= NOISE]
    assert [row.cause for row in large] == ordered, made.report.headline
    told = {row.cause: row.lost_seconds for row in large}
    for cause in ordered:
        share = told[cause] / truth[cause]
        sys.stdout.write(
            f"{name}: {cause} {told[cause]:.2f} of {truth[cause]:.2f} s: {share:.2f}\n"
        )
    # Beside others a stopwatch counts what they take of it, too.
    assert told == pytest.approx(truth, rel=0.35 if others else 0.2)


@pytest.mark.parametrize("name", ["curriculum_healthy", "unfreezing_healthy"])
def test_other_work_is_no_defect(host: TrainingHost, name: str, tmp_path: Path) -> None:
    made = run(host, PROGRAMS, name, tmp_path)
    assert made.named == [], made.report.headline
