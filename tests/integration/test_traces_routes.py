"""The routes of captures, over real captures in a logdir, through TensorBoard's own application."""

from __future__ import annotations

import gzip
import json
import shutil
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import event_files
import numpy as np
import pytest
from werkzeug.test import Client

from tb_slowdown_plugin.analysis.live.follow import follow
from tb_slowdown_plugin.profiler.read import read_trace
from tb_slowdown_plugin.profiler.steps import nothing_recorded
from tb_slowdown_plugin.reader.extent import Extent, extent_of
from tb_slowdown_plugin.reader.run_store import Listing, Seen
from tb_slowdown_plugin.records.run import Run, Session
from tb_slowdown_plugin.records.types import Environment, Event, Fact, no_signals
from tb_slowdown_plugin.server.plugin import SlowdownPlugin
from tb_slowdown_plugin.server.runs import Runs

with warnings.catch_warnings():  # TensorBoard's copy of bleach warns about itself
    warnings.simplefilter("ignore", DeprecationWarning)
    from tensorboard.backend import application

DATA = Path(__file__).parent.parent / "unit/profiler/data"
FAST, SLOW = "run1/2026_11_21_06_37_40", "run1/2026_11_21_06_37_41"


class OneRun:
    """A source of one run whose steps are those that the captures saw."""

    def __init__(self, run: Run) -> None:
        self.only = run

    def listing(self) -> Listing:
        return Listing({self.only.name: Seen(1, 0.0)}, 0)

    def extents(self, names: Iterable[str]) -> dict[str, Extent]:
        return {name: extent_of(self.only) for name in names}

    def run(self, name: str) -> Run:
        return self.only

    def first_part(self, name: str) -> None:
        """All is read at once."""

    def progress(self, name: str) -> None:
        """Nothing is being read."""


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    for name, id_ in (("retrace", FAST), ("heavy", SLOW)):
        run, _, session = id_.partition("/")
        place = folder / run / "plugins/profile" / session
        place.mkdir(parents=True)
        packed = (DATA / f"{name}.xplane.pb.gz").read_bytes()
        (place / "vm.xplane.pb").write_bytes(gzip.decompress(packed))
    return folder


@pytest.fixture(scope="module")
def run(logdir: Path) -> Run:
    """20 steps: those of the slow capture, whose time is the earlier one, and of the fast."""
    traces = [
        read_trace(logdir / id_.replace("run1/", "run1/plugins/profile/") / "vm.xplane.pb",
                   nothing_recorded())
        for id_ in (SLOW, FAST)
    ]  # fmt: skip
    ended = np.concatenate([trace.started + trace.steps.ends for trace in traces])
    period = np.concatenate([trace.steps.ends - trace.steps.begins for trace in traces])
    number = np.concatenate([trace.steps.number for trace in traces])
    steps = replace(event_files.make_steps(20), ended=ended, period_seconds=period, number=number)
    session = Session("0123abcd", 0, float(ended[0]), 1, 0)
    taken = Fact("automatic_capture", SLOW.partition("/")[2], {"slower": 1.0})
    events = (Event(10, float(ended[9]), taken),)
    return Run("run1", steps, no_signals(), events, Environment(), (session,))


@pytest.fixture
def ask(run: Run, logdir: Path) -> Callable[..., Any]:
    return asker(run, str(logdir))


def asker(run: Run, logdir: str | None) -> Callable[..., Any]:
    plugin = SlowdownPlugin(Runs(OneRun(run), follow, logdir=logdir))
    client = Client(application.TensorBoardWSGI([plugin]))

    def ask(route: str, status: int = 200, **query: object) -> Any:
        answer = client.get(f"/data/plugin/slowdown/{route}?{urlencode(query)}")
        assert answer.status_code == status, answer.data
        return json.loads(answer.data)

    return ask


def test_captures_are_listed_at_their_rows(ask: Callable[..., Any]) -> None:
    listed = ask("captures", run="run1")
    assert listed["status"] == {"status": "measured", "reason": ""}
    first, second = listed["captures"]
    assert (first["id"], first["first_row"], first["last_row"]) == (FAST, 10, 19)
    assert (second["id"], second["first_row"], second["last_row"]) == (SLOW, 0, 9)
    assert (first["host"], first["hosts"], first["by"]) == ("vm", ["vm"], "step_num")
    assert first["adds"][0] == "`step`: traced in 1 of 10 calls."
    assert first["notes"] == []
    assert (first["automatic"], second["automatic"]) == (None, "slower")


def test_a_capture_shows_its_steps(ask: Callable[..., Any]) -> None:
    found = ask("capture", run="run1", capture=SLOW)
    steps = found["steps"]
    assert steps["row"] == list(range(10))
    parts = np.array(list(steps["parts"].values())).sum(axis=0)
    np.testing.assert_allclose(parts, steps["seconds"], atol=1e-6)
    mean = {item["name"]: item["seconds"] for item in found["items"]}
    one = ask("capture", run="run1", capture=SLOW, first=1)
    assert (found["chosen"], one["chosen"]) == (None, [1, 1])
    assert {item["name"]: item["seconds"] for item in one["items"]} != mean
    assert one["items"][0]["seconds"] <= steps["seconds"][1] + 1e-6


def test_a_window_of_steps_is_told_by_rows(ask: Callable[..., Any]) -> None:
    whole = ask("capture", run="run1", capture=FAST)
    assert whole["steps"]["place"] == list(range(10, 20))
    two = ask("capture", run="run1", capture=FAST, first=15, last=16)
    assert two["chosen"] == [5, 6]
    each = [ask("capture", run="run1", capture=FAST, first=row)["items"] for row in (15, 16)]
    name = two["items"][0]["name"]
    of_steps = [sum(i["seconds"] for i in items if i["name"] == name) for items in each]
    assert two["items"][0]["seconds"] == pytest.approx(np.mean(of_steps))
    # None of its steps is meant: the mean of all, and it says so.
    beyond = ask("capture", run="run1", capture=FAST, first=0, last=9)
    assert (beyond["chosen"], beyond["items"]) == (None, whole["items"])


def test_each_host_of_a_capture_is_asked_for_by_name(
    run: Run, logdir: Path, tmp_path: Path
) -> None:
    shutil.copytree(logdir, tmp_path / "logs")
    place = tmp_path / "logs/run1/plugins/profile" / SLOW.partition("/")[2]
    other = gzip.decompress((DATA / "retrace.xplane.pb.gz").read_bytes())
    (place / "worker-1.xplane.pb").write_bytes(other)
    ask = asker(run, str(tmp_path / "logs"))
    _, listed = ask("captures", run="run1")["captures"]
    assert (listed["host"], listed["hosts"]) == ("vm", ["vm", "worker-1"])
    assert listed["bytes"] == sum(path.stat().st_size for path in place.iterdir())
    first, named, second = (
        ask("capture", run="run1", capture=SLOW, **host)
        for host in ({}, {"host": "vm"}, {"host": "worker-1"})
    )
    assert first == named
    assert (second["host"], second["functions"][0]["traced"]) == ("worker-1", 1)
    assert "no host 'x'" in ask("capture", 404, run="run1", capture=SLOW, host="x")["error"]


def test_two_captures_are_compared(ask: Callable[..., Any]) -> None:
    found = ask("compare_captures", run="run1", fast=FAST, slow=SLOW)
    assert found["rows"][0]["name"] == "Iterator::Root::Prefetch::MapAndBatch"
    assert 0 <= found["rows"][0]["slow_place"] <= 9
    assert 10 <= found["rows"][0]["fast_place"] <= 19
    differences = sum(part["slow_seconds"] - part["fast_seconds"] for part in found["parts"])
    assert differences == pytest.approx(found["slow_seconds"] - found["fast_seconds"])


@pytest.mark.parametrize(
    ("route", "query", "status", "said"),
    [
        ("capture", {"run": "run1"}, 400, "parameter 'capture' is missing"),
        ("capture", {"run": "run2", "capture": SLOW}, 404, "no run 'run2'"),
        ("capture", {"run": "run1", "capture": "../../etc/passwd"}, 404, "has no capture"),
        ("capture", {"run": "run1", "capture": SLOW, "first": "x"}, 400, "must be a whole number"),
        ("capture", {"run": "run1", "capture": SLOW, "first": 5, "last": 4}, 400, "at least 5"),
        ("compare_captures", {"run": "run1", "fast": FAST, "slow": "x"}, 404, "has no capture 'x'"),
    ],
)
def test_refusals(
    ask: Callable[..., Any], route: str, query: dict[str, object], status: int, said: str
) -> None:
    assert said in ask(route, status, **query)["error"]


@pytest.mark.parametrize(
    ("place", "reason"), [("", "--logdir_spec"), (None, "--logdir_spec"), ("gs://b/x", "remote")]
)
def test_without_a_logdir_of_its_own_it_says_why(run: Run, place: str | None, reason: str) -> None:
    listed = asker(run, place)("captures", run="run1")
    assert listed["captures"] == []
    assert listed["status"]["status"] == "unavailable"
    assert reason in listed["status"]["reason"]


def test_a_broken_capture_says_so_and_tells_no_path(run: Run, logdir: Path, tmp_path: Path) -> None:
    shutil.copytree(logdir, tmp_path / "logs")
    place = tmp_path / "logs/run1/plugins/profile/2026_11_21_07_00_00"
    place.mkdir()
    (place / "vm.xplane.pb").write_bytes(b"<html>not a trace</html>")
    ask = asker(run, str(tmp_path / "logs"))
    *_, broken = ask("captures", run="run1")["captures"]
    assert broken["error"] == "the file is no trace"
    refused = ask("capture", 400, run="run1", capture="run1/2026_11_21_07_00_00")
    assert "the file is no trace" in refused["error"]
    assert str(tmp_path) not in json.dumps([broken, refused])


def test_a_capture_above_the_run_counts_if_it_was_on_during_its_steps(
    run: Run, logdir: Path, tmp_path: Path
) -> None:
    shutil.copytree(logdir / "run1/plugins", tmp_path / "plugins")
    below = replace(run, name="deep/run1")
    listed = asker(below, str(tmp_path))("captures", run="deep/run1")["captures"]
    assert [capture["id"] for capture in listed] == [FAST.split("/")[1], SLOW.split("/")[1]]
    assert [capture["first_row"] for capture in listed] == [10, 0]
    later = replace(below, steps=replace(run.steps, ended=run.steps.ended + 1e5))
    assert asker(later, str(tmp_path))("captures", run="deep/run1")["captures"] == []
