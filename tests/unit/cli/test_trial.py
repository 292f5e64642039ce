"""`tbslow try` with a program that is played: what is tried, printed, kept, and refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from tb_slowdown_plugin.catalog.experiments import AS_IT_IS, Experiment
from tb_slowdown_plugin.cli import trial as command
from tb_slowdown_plugin.cli.command import main
from tb_slowdown_plugin.jobs.experiments import Times
from tb_slowdown_plugin.jobs.patch_experiments import PatchExperiment
from tb_slowdown_plugin.reader.trials import read_trials
from tb_slowdown_plugin.records.types import Fact

STEP_SECONDS = {AS_IT_IS: 0.1, "prefetch": 0.05, "input_free": 0.04, "xla": 0.1}


class Played:
    """In place of the processes: each run has the step time of its name."""

    turns: ClassVar[list[str]] = []
    changed: ClassVar[dict[str, Any]] = {}
    reason = ""

    def __init__(self, *_: Any) -> None:
        Played.turns = []
        self.timeout_seconds: float | None = None

    def run(self, name: str, logdir: Path | None = None) -> Times:
        Played.turns.append(name)
        Played.changed = dict(self.changed)
        if self.reason:
            return Times(np.zeros(0), np.zeros(0), self.reason)
        if name not in STEP_SECONDS:
            return Times(np.zeros(0), np.zeros(0), "the program has nothing that it changes")
        seconds = STEP_SECONDS[name]
        return Times(np.arange(1, 61) * seconds, np.ones(60))


@pytest.fixture(autouse=True)
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> type[Played]:
    (tmp_path / "train.py").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "TrialProcess", Played)
    monkeypatch.setattr(Played, "reason", "")
    return Played


@pytest.fixture
def has_causes(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def has(*causes: str) -> None:
        report = SimpleNamespace(lost_by_cause=lambda: dict.fromkeys(causes, 1.0))
        monkeypatch.setattr(
            command, "_run_in", lambda _: SimpleNamespace(facts=lambda _: (), steps=())
        )
        monkeypatch.setattr(command, "account_for", lambda _: SimpleNamespace(report=report))

    return has


def test_the_causes_of_the_run_call_for_experiments(
    has_causes: Callable[..., None], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    has_causes("input_pipeline")
    assert main(["try", "--logdir", "logs", "--format", "json", "train.py"]) == 0
    out, err = capsys.readouterr()
    body = json.loads(out)
    assert [(each["experiment"], each["speedup"]) for each in body["experiments"]] == [
        ("input_free", pytest.approx(2.5)),
        ("prefetch", pytest.approx(2.0)),
    ]
    assert {each["confirms"] for each in body["experiments"]} == {"input_pipeline"}
    assert body["untried"] == [
        {"experiment": "autotune_off", "reason": "the program has nothing that it changes"}
    ]
    assert "runs train.py once as it is, in a fresh copy of its directory" in err
    assert "tries input_free, prefetch, autotune_off: up to 3 times with and without each" in err
    assert "at most 18 runs" in err
    kept = read_trials(tmp_path / "logs", ".")
    assert [each.experiment for each in kept] == ["input_free", "prefetch"]
    assert kept[0].tried_at > 1e9


def test_the_text_is_for_people(
    has_causes: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    has_causes()
    assert main(["try", "--only", "xla,prefetch", "train.py"]) == 0
    out = capsys.readouterr().out
    assert "prefetch: 2 times faster" in out
    assert "confirms" not in out
    assert "xla: no difference" in out


def test_a_run_without_causes_is_told_of_all(
    has_causes: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    has_causes("warm_up")
    assert main(["try", "train.py"]) == 0
    assert (
        "no cause of this run calls for an experiment; --all tries all experiments"
        in capsys.readouterr().err
    )
    assert Played.turns == [AS_IT_IS]


def test_patches_are_experiments(
    has_causes: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    has_causes("retracing", "disk")
    experiment = Experiment(
        "patch_retracing", "passes a tensor", ("retracing",), "no", "+new", True
    )
    file = tmp_path / "train.py"
    found = [PatchExperiment(experiment, {file: b"new"})]
    monkeypatch.setattr(command, "find_patch_experiments", lambda *_: iter(found))
    monkeypatch.setitem(STEP_SECONDS, "patch_retracing", 0.05)
    assert main(["try", "--patch", "--format", "json", "train.py"]) == 0
    (trial,) = json.loads(capsys.readouterr().out)["experiments"]
    assert (trial["experiment"], trial["confirms"]) == ("patch_retracing", "retracing")
    assert Played.changed == {"patch_retracing": {file: b"new"}}


def test_without_a_patch_nothing_is_tried(
    has_causes: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    has_causes("retracing")
    monkeypatch.setattr(command, "find_patch_experiments", lambda *_: iter([]))
    assert main(["try", "--patch", "train.py"]) == 0
    assert "no cause of this run has a patch" in capsys.readouterr().err
    assert Played.turns == [AS_IT_IS]


def test_the_list_needs_no_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["try", "--list"]) == 0
    assert "input_free" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--all"], "no program to try"),
        (["--all", "-m"], "no program to try"),
        (["--only", "magic", "train.py"], "--only magic: expected names of experiments"),
        (["--only", ",", "train.py"], "--only ,: expected names of experiments"),
        (["none.py"], "no such file: 'none.py'"),
        (["--patch", "--workdir", "x", "train.py"], "--patch changes a copy"),
    ],
)
def test_what_cannot_be_tried_is_refused(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["try", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_program_that_fails_is_not_tried(
    played: type[Played], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(played, "reason", "the program ended without a step")
    assert main(["try", "--all", "train.py"]) == 2
    assert "nothing can be tried: the program ended without a step" in capsys.readouterr().err


def test_what_is_known_is_printed_after_an_interrupt(
    played: type[Played],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    has_causes: Callable[..., None],
) -> None:
    has_causes("input_pipeline")
    run = played.run

    def interrupted(self: Played, name: str, logdir: Path | None = None) -> Times:
        if name == "xla":
            raise KeyboardInterrupt
        return run(self, name, logdir)

    monkeypatch.setattr(played, "run", interrupted)
    assert main(["try", "--only", "prefetch,xla", "--logdir", "logs", "train.py"]) == 130
    assert "prefetch: 2 times faster" in capsys.readouterr().out


def test_a_logdir_of_several_runs_is_refused(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["try", "--logdir", str(root / "demo_logs"), "train.py"]) == 2
    assert "has several runs; give the directory of one run" in capsys.readouterr().err


def test_what_was_left_on_for_debugging_calls_for_its_experiment(
    has_causes: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    has_causes()
    fact = Fact("slow_setting", "tracemalloc", {"on": 1.0, "before": 1.0})
    run = SimpleNamespace(facts=lambda _: ((0, fact),), steps=range(40))
    monkeypatch.setattr(command, "_run_in", lambda _: run)
    main(["try", "train.py"])
    assert "tries debugging_off: up to 3 times" in capsys.readouterr().err
