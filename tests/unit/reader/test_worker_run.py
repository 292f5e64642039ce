"""A worker's own run: its steps, with the chief among the others."""

from __future__ import annotations

from dataclasses import replace

from event_files import STARTED, make_steps

from tb_slowdown_plugin.reader.worker_run import run_of_worker
from tb_slowdown_plugin.records.run import Run, Session
from tb_slowdown_plugin.records.types import Environment, no_signals


def make_run(name: str, steps: int) -> Run:
    sessions = (Session(name, 0, STARTED, 1, 0),)
    return Run(name, make_steps(steps), no_signals(), (), Environment(), sessions)


def test_it_has_its_own_steps_and_the_chief_among_the_others() -> None:
    late, other = (make_run(f"run1/slowdown/worker-{n}", 100 + n) for n in (1, 12))
    chief = replace(
        make_run("run1", 100), workers=(late, other), notes=("Resumed.",), steps_per_row=4
    )
    own = run_of_worker(chief, 12)
    assert own is not None
    assert (own.name, own.steps, own.sessions) == (other.name, other.steps, other.sessions)
    assert [each.name for each in own.workers] == ["run1", "run1/slowdown/worker-1"]
    assert own.workers[0].workers == ()
    assert (own.notes, own.workers[0].notes, own.steps_per_row) == (("Resumed.",), (), 4)


def test_the_chief_and_an_unknown_worker_have_none() -> None:
    chief = replace(make_run("run1", 100), workers=(make_run("run1/slowdown/worker-2", 9),))
    assert run_of_worker(chief, 0) is None
    assert run_of_worker(chief, 1) is None
