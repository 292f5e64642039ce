"""The table of all runs: each judged once a version, the newest first, never by a request."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import event_files
import pytest

from tb_slowdown_plugin.reader.run_store import Seen
from tb_slowdown_plugin.records.run import Run, Session
from tb_slowdown_plugin.records.types import Environment, no_signals
from tb_slowdown_plugin.server.all_runs.judge_process import Judged, Task, judge_task
from tb_slowdown_plugin.server.all_runs.kept_rows import KeptRows
from tb_slowdown_plugin.server.all_runs.verdicts import Verdicts

SOON = 30.0


def make_run(name: str, steps: int = 40) -> Run:
    session = Session("0123abcd", 0, event_files.STARTED, 1, 0)
    table = event_files.make_steps(steps)
    return Run(name, table, no_signals(), (), Environment(), (session,))


@dataclass
class Bench:
    """Judges in the test's own process, and keeps what it was given."""

    runs: dict[str, Run] = field(default_factory=dict)
    judged: list[str] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)
    now: float = 0.0
    closed: int = 0

    def __post_init__(self) -> None:
        self.gate.set()

    def judge(self, task: Task) -> Judged:
        self.gate.wait(SOON)
        self.judged.append(task.name)
        return judge_task(task)

    def close(self) -> None:
        self.closed += 1

    def add(self, *names: str, steps: int = 40) -> dict[str, Seen]:
        self.runs |= {name: make_run(name, steps) for name in names}
        return self.seen()

    def seen(self) -> dict[str, Seen]:
        """The later a run was added, the newer it is."""
        return {
            name: Seen(len(run.steps), 100.0 + place)
            for place, (name, run) in enumerate(self.runs.items())
        }

    def verdicts(self, **changed: Any) -> Verdicts:
        return Verdicts(
            self.runs.__getitem__,
            open_judge=lambda: self,
            clock=lambda: self.now,
            **{"processes": 1, **changed},
        )


@pytest.fixture
def bench() -> Bench:
    return Bench()


def never(_: Seen) -> bool:
    return False


def test_runs_are_judged_in_the_background_the_newest_first(bench: Bench) -> None:
    verdicts = bench.verdicts()
    bench.gate.clear()
    verdicts.follow(bench.add("a", "b", "c"), never)
    waiting = verdicts.body()
    assert (waiting["judged"], waiting["of"], waiting["rows"]) == (0, 3, [])
    bench.gate.set()
    assert verdicts.wait(SOON)
    assert bench.judged == ["c", "b", "a"]
    body = verdicts.body()
    assert (body["judged"], body["of"]) == (3, 3)
    (row, _, _) = body["rows"]
    assert (row["run"], row["error"], row["digest"]["steps"]) == ("c", "", 40)


def test_live_runs_come_before_newer_ones_that_have_ended(bench: Bench) -> None:
    verdicts = bench.verdicts()
    verdicts.follow(bench.add("a", "b", "c"), lambda seen: seen.reported == 101.0)
    assert verdicts.wait(SOON)
    assert bench.judged == ["b", "c", "a"]


def test_only_what_is_new_is_sent(bench: Bench) -> None:
    verdicts = bench.verdicts()
    verdicts.follow(bench.add("a", "b"), never)
    assert verdicts.wait(SOON)
    first = verdicts.body()
    again = verdicts.body(first["number"], first["store"])
    assert again["rows"] == []
    verdicts.follow(bench.add("c"), never)
    assert verdicts.wait(SOON)
    assert bench.judged == ["b", "a", "c"]  # a run that did not change is not judged again
    later = verdicts.body(first["number"], first["store"])
    assert [row["run"] for row in later["rows"]] == ["c"]
    of_another_server = verdicts.body(first["number"], "00000000")
    assert {row["run"] for row in of_another_server["rows"]} == {"a", "b", "c"}


def test_a_run_that_has_grown_is_judged_again_after_a_rest(bench: Bench) -> None:
    verdicts = bench.verdicts()
    verdicts.follow(bench.add("a"), never)
    assert verdicts.wait(SOON)
    bench.now = 1.0
    verdicts.follow(bench.add("a", steps=60), never)
    assert verdicts.wait(SOON)
    assert bench.judged == ["a"]
    assert verdicts.body()["judged"] == 0
    bench.now = 25.0
    verdicts.follow(bench.seen(), never)
    assert verdicts.wait(SOON)
    (row,) = verdicts.body()["rows"]
    assert (bench.judged, row["digest"]["steps"]) == (["a", "a"], 60)


def test_a_run_that_is_gone_has_no_row(bench: Bench) -> None:
    verdicts = bench.verdicts()
    verdicts.follow(bench.add("a", "b"), never)
    assert verdicts.wait(SOON)
    del bench.runs["a"]
    verdicts.follow(bench.seen(), never)
    assert [row["run"] for row in verdicts.body()["rows"]] == ["b"]
    assert verdicts.row("a") is None


def test_a_run_that_cannot_be_read_is_a_row_with_its_reason(bench: Bench) -> None:
    def read(name: str) -> Run:
        if name == "b":
            raise OSError("permission denied")
        return bench.runs[name]

    verdicts = Verdicts(read, open_judge=lambda: bench, processes=1)
    verdicts.follow(bench.add("a", "b"), never)
    assert verdicts.wait(SOON)
    rows = {row["run"]: row for row in verdicts.body()["rows"]}
    assert rows["b"]["digest"] is None
    assert rows["b"]["error"] == "It can't be read (OSError: permission denied)."
    assert rows["a"]["digest"]["verdict"] == "healthy"


def test_a_judge_that_fails_costs_one_run(bench: Bench) -> None:
    class Failing(Bench):
        def judge(self, task: Task) -> Judged:
            if task.name == "b":
                raise RuntimeError("no judge")
            return super().judge(task)

    failing = Failing()
    verdicts = failing.verdicts()
    verdicts.follow(failing.add("a", "b"), never)
    assert verdicts.wait(SOON)
    rows = {row["run"]: row for row in verdicts.body()["rows"]}
    assert rows["b"]["error"] == "It can't be judged (RuntimeError: no judge)."
    assert rows["a"]["digest"]["verdict"] == "healthy"


@pytest.mark.parametrize("fails", ["opening", "judging", "keeping"])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_another_thread_judges_after_one_that_ended(bench: Bench, fails: str) -> None:
    ended = threading.Event()

    class End(BaseException):
        """Nothing that a thread catches."""

    def end(*_: object) -> Any:
        if not ended.is_set():
            ended.set()
            raise End

    class Kept(KeptRows):
        def __init__(self) -> None:
            """In no file."""

        def read(self) -> dict[str, Any]:
            return {}

        def write(self, rows: object) -> None:
            if fails == "keeping":
                end()

    class Ending(Bench):
        def judge(self, task: Task) -> Judged:
            if fails == "judging":
                end()
            return super().judge(task)

    ending = Ending()

    def open_judge() -> Bench:
        if fails == "opening":
            end()
        return ending

    verdicts = Verdicts(
        ending.runs.__getitem__, open_judge=open_judge, processes=1, kept=Kept(),
        clock=lambda: ending.now,
    )  # fmt: skip
    before = set(threading.enumerate())
    verdicts.follow(ending.add("a"), never)
    assert ended.wait(SOON)
    for thread in set(threading.enumerate()) - before:
        thread.join(SOON)
    del ending.runs["a"]
    ending.now = 100.0
    verdicts.follow(ending.add("b"), never)
    assert verdicts.wait(SOON)
    assert [row["run"] for row in verdicts.body()["rows"]] == ["b"]


def test_hyperparameters_stand_in_the_row_and_make_it_new_when_they_change(bench: Bench) -> None:
    logged: dict[str, dict[str, float]] = {"a": {"lr": 0.1}}
    verdicts = bench.verdicts(hyperparameters=lambda _: dict(logged))
    verdicts.follow(bench.add("a", "b"), never)
    assert verdicts.wait(SOON)
    first = verdicts.body()
    assert {row["run"]: row["hyperparameters"] for row in first["rows"]} == {
        "a": {"lr": 0.1}, "b": {},
    }  # fmt: skip
    logged["b"] = {"lr": 0.2}
    verdicts.follow(bench.seen(), never)
    (row,) = verdicts.body(first["number"], first["store"])["rows"]
    assert (row["run"], row["hyperparameters"]) == ("b", {"lr": 0.2})


def test_a_second_start_judges_only_what_has_changed(bench: Bench, tmp_path: Path) -> None:
    def start() -> Verdicts:
        return bench.verdicts(kept=KeptRows(tmp_path / "cache", "/logs"))

    first = start()
    first.follow(bench.add("a", "b"), never)
    assert first.wait(SOON)
    bench.judged.clear()
    bench.gate.clear()
    second = start()
    second.follow(bench.add("b", steps=60), never)
    kept = second.body()  # before anything is judged
    assert ({row["run"] for row in kept["rows"]}, kept["judged"]) == ({"a", "b"}, 1)
    bench.gate.set()
    assert second.wait(SOON)
    assert (bench.judged, second.body()["judged"]) == (["b"], 2)
