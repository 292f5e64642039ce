"""A run as one of its workers had it."""

from __future__ import annotations

from dataclasses import replace

from tb_slowdown_plugin.records.metadata import worker_run
from tb_slowdown_plugin.records.run import Run


def run_of_worker(run: Run, worker: int) -> Run | None:
    """The steps of a worker as a run, whose `workers` are the chief and the others.

    What is beside the run's records (captures, experiments) stays with the chief.

    Args:
      run: As it was read.
      worker: The worker's number.

    Returns:
      None where no worker but the chief has this number.
    """
    name = worker_run(run.name, worker)
    own = next((each for each in run.workers if each.name == name), None)
    if own is None:
        return None
    chief = replace(run, workers=(), captured=(), trials=(), notes=())
    others = (each for each in run.workers if each is not own)
    return replace(
        own,
        workers=(chief, *others),
        notes=run.notes,
        steps_per_row=run.steps_per_row,
        read_fraction=run.read_fraction,
    )
