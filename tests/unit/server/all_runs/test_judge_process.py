"""Runs judged in a process of their own: the same as here, and no end of all where one ends."""

from __future__ import annotations

import io
import os
import pickle
import signal
from pathlib import Path

import event_files
import pytest

from tb_slowdown_plugin.reader.build.record_batch import Record
from tb_slowdown_plugin.records.codec import encode
from tb_slowdown_plugin.records.metadata import tag
from tb_slowdown_plugin.records.run import Run, Session
from tb_slowdown_plugin.records.types import Environment, no_signals
from tb_slowdown_plugin.report.run_digest import RunDigest
from tb_slowdown_plugin.server.all_runs import judge_process
from tb_slowdown_plugin.server.all_runs.judge_process import JudgeProcess, Task, judge_task, serve


def records(name: str = "a", steps: int = 40) -> list[Record]:
    return [
        Record(
            f"{name}/slowdown", tag(chunk.session, chunk.sequence), chunk.sequence, encode(chunk)
        )
        for chunk in event_files.split(event_files.make_steps(steps), chunk_rows=10)
    ]


def test_a_process_finds_what_this_one_finds() -> None:
    task = Task("a", records(), None)
    judge = JudgeProcess()
    found = judge.judge(task)
    assert isinstance(found, RunDigest)
    assert found == judge_task(task)
    assert (found.verdict, found.steps, found.step_seconds) == ("healthy", 40, 0.1)
    assert judge.close() == 0


def test_a_process_that_is_killed_costs_one_run() -> None:
    judge = JudgeProcess()
    judge.judge(Task("a", records(), None))
    process = judge._process
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert judge.judge(Task("b", records(), None)) == (
        "The process that judged it ended with status -9."
    )
    assert isinstance(judge.judge(Task("c", records(), None)), RunDigest)
    judge.close()


class Unloadable:
    """Pickles, and raises what no pickle raises when it is loaded."""

    def __reduce__(self) -> tuple[type[int], tuple[str]]:
        return int, ("no number",)


def test_an_answer_that_cannot_be_loaded_costs_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = JudgeProcess()
    judge.judge(Task("a", records(), None))
    process = judge._process
    with monkeypatch.context() as changed:
        data = pickle.dumps(Unloadable())
        changed.setattr(judge_process, "_receive", lambda _: pickle.loads(data))
        assert str(judge.judge(Task("b", records(), None))).startswith(
            "It can't be judged (ValueError: invalid literal for int()"
        )
    assert process is not None
    assert process.poll() == 0
    assert isinstance(judge.judge(Task("c", records(), None)), RunDigest)
    judge.close()


def test_a_task_that_cannot_be_pickled_costs_one_run() -> None:
    judge = JudgeProcess()
    unpicklable = Task("a", lambda: None, None)  # type: ignore[arg-type]
    assert str(judge.judge(unpicklable)).startswith("It can't be judged (")
    assert isinstance(judge.judge(Task("b", records(), None)), RunDigest)
    judge.close()


def test_without_a_process_runs_are_judged_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge_process.sys, "executable", "/no/such/python")
    judge = JudgeProcess()
    assert isinstance(judge.judge(Task("a", records(), None)), RunDigest)
    assert judge.close() is None


def test_a_run_that_was_drawn_is_judged_as_it_is(tmp_path: Path) -> None:
    session = Session("0123abcd", 0, event_files.STARTED, 1, 0)
    run = Run("a", event_files.make_steps(40), no_signals(), (), Environment(), (session,))
    found = judge_task(Task("a", run, tmp_path))
    assert isinstance(found, RunDigest)
    assert found.steps == 40


def test_records_that_are_none_are_a_sentence() -> None:
    assert judge_task(Task("a", [], None)) == "No record of it can be read."
    broken = Task("a", "neither run nor records", None)  # type: ignore[arg-type]
    assert str(judge_task(broken)).startswith("It can't be judged (AttributeError: ")


def test_serving_ends_with_the_last_request() -> None:
    data = pickle.dumps(Task("a", [], None))
    requests = io.BytesIO(len(data).to_bytes(8, "little") + data)
    answers = io.BytesIO()
    serve(requests, answers)
    assert pickle.loads(answers.getvalue()[8:]) == "No record of it can be read."
