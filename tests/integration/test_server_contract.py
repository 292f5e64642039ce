"""The plugin over a real logdir, in this process: answers are as documented and as reported."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import event_files
import numpy as np
import pytest
from werkzeug.test import Client

from tb_slowdown_plugin.__main__ import main
from tb_slowdown_plugin.reader.provider import open_logdir
from tb_slowdown_plugin.records.types import (
    Capture,
    Change,
    CollectorState,
    Environment,
    Epoch,
    Event,
    Execution,
    GcPause,
    SignalTable,
    Trace,
)
from tb_slowdown_plugin.server.loader import SlowdownLoader

with warnings.catch_warnings():  # TensorBoard's copy of bleach warns about itself
    warnings.simplefilter("ignore", DeprecationWarning)
    from tensorboard.backend import application

RUN = "study/run 1"
CUT = "cut"
"""A run whose last record is only half there."""
STEPS = 900
RETRACED = range(100, 900, 40)
TRACING_SECONDS = 0.5


def retraced_run() -> list[Any]:
    """A run in which every fortieth step pays for a trace, with one event of each kind."""
    steps = event_files.make_steps(
        STEPS, seed=7, accounts={"tracing:again": 0.0, "gc": 0.0, "checkpoint": 0.0}
    )
    for row in RETRACED:
        steps.period_seconds[row] += TRACING_SECONDS
        steps.accounts["tracing:again"][row] = TRACING_SECONDS
    steps.accounts["gc"][5] = steps.accounts["checkpoint"][6] = 0.01
    steps.ended[:] = event_files.STARTED + np.cumsum(steps.period_seconds)

    def event(row: int, what: Any) -> Event:
        return Event(row, float(steps.ended[row]), what)

    events = [event(0, Epoch(0)), event(5, GcPause(2, 0.01, 9)), event(50, Capture("s1", True))]
    for number, row in enumerate(RETRACED, 1):
        changes = (
            Change("rate", "python_number", f"Python float {number}", f"Python float {number + 1}"),
        )
        trace = Trace(
            number, "train_step", "train.py:41", TRACING_SECONDS, 0.3, "signature", changes=changes
        )
        events += [event(row, trace), event(row, Execution(number, 1, 0.1))]
    samples = np.arange(0, STEPS, 10)
    signals = SignalTable(
        steps.ended[samples], samples, {"rss_bytes": np.linspace(4e8, 5e8, len(samples))}
    )
    environment = Environment(
        collectors=(
            CollectorState("retraces", "running"),
            CollectorState("allocator", "unavailable", "no device reports allocator numbers"),
        )
    )
    return event_files.split(steps, signals=signals, events=events, environment=environment)


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    logdir = tmp_path_factory.mktemp("logdir")
    event_files.write_chunks(logdir / RUN / "slowdown", retraced_run())
    cut = event_files.write_chunks(logdir / CUT / "slowdown", retraced_run())
    cut.write_bytes(cut.read_bytes()[:-100])
    event_files.write_events(logdir / RUN, [event_files.scalar_event("loss", 0, 1.0)])
    event_files.write_events(logdir / "other", [event_files.scalar_event("loss", 0, 1.0)])
    return logdir


@pytest.fixture(scope="module")
def client(logdir: Path) -> Client:
    context = SimpleNamespace(
        data_provider=open_logdir(str(logdir)), logdir=str(logdir), flags=None
    )
    return Client(application.TensorBoardWSGI([SlowdownLoader().load(context)]))


def body(client: Client, route: str, **query: Any) -> Any:
    response = client.get(f"/data/plugin/slowdown/{route}", query_string=query)
    assert response.status_code == 200, response.get_data(as_text=True)
    return json.loads(response.get_data())


@pytest.fixture(scope="module")
def documented(root: Path) -> dict[str, Any]:
    """Route -> its example in the document, None without one."""
    text = (root / "tb_slowdown_plugin/server/http_api.md").read_text(encoding="utf-8")
    _, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    examples = {}
    for section in sections:
        names = re.findall(r"(?:^|, )`([a-z._]+)", section.partition("\n")[0])
        block = re.search(r"```json\n(.*?)```", section, re.DOTALL)
        assert names
        examples |= dict.fromkeys(names, json.loads(block[1]) if block else None)
    return examples


def shape(value: Any) -> Any:
    """The keys of a JSON value, and whether leaves are text; an empty list fits any list."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return str if isinstance(value, str) else float


def assert_same_shape(actual: Any, example: Any, place: str) -> None:
    if isinstance(example, dict):
        assert isinstance(actual, dict), place
        assert sorted(actual) == sorted(example), place
        for key in example:
            assert_same_shape(actual[key], example[key], f"{place}.{key}")
    elif isinstance(example, list):
        assert isinstance(actual, list), place
        if actual and example:
            assert_same_shape(actual[0], example[0], f"{place}[0]")
    else:
        assert actual is example, place


def test_the_document_has_each_route_and_no_other(documented: dict[str, Any]) -> None:
    plugin = SlowdownLoader().load(SimpleNamespace(data_provider=None, logdir="", flags=None))
    assert sorted(documented) == sorted(path[1:] for path in plugin.get_plugin_apps())


@pytest.mark.parametrize("route", ["runs", "timeline", "changed", "compare", "retraces"])
def test_answers_have_the_documented_shape(
    client: Client, documented: dict[str, Any], route: str
) -> None:
    body(client, "report", run=RUN)  # from here on the list of runs knows its verdict
    asked: dict[str, Any] = {}
    if route == "changed":
        asked = {"first": STEPS // 2, "last": STEPS - 1}
    elif route == "compare":
        asked = {"base": json.dumps([CUT]), "runs": json.dumps([RUN])}
    answer = body(client, route, run=RUN, **asked)
    if route == "runs":
        answer["runs"] = [one for one in answer["runs"] if one["run"] == RUN]
    example = documented[route]
    if route == "compare":  # of one run a side
        assert (answer.pop("spread_fraction"), answer.pop("notes") != []) == (None, True)
        del example["spread_fraction"], example["notes"]
        assert_same_shape(shape(answer.pop("changes")), shape([]), route)
        del example["changes"]
        example["repeats_wanted"] = answer["repeats_wanted"] and float
    if route == "timeline":  # its causes are those of the run
        assert set(answer["lost"]) >= {"retracing", "unexplained"}
        assert {shape(seconds)[0] for seconds in answer.pop("lost").values()} == {float}
        del example["lost"]
    assert_same_shape(shape(answer), shape(example), route)


def test_the_example_run_shows_each_part_of_the_timeline(client: Client) -> None:
    """Else the shapes above were compared with empty lists."""
    answer = body(client, "timeline", run=RUN)
    assert len(answer["marks"]["retraces"]) == len(RETRACED)
    for part in (
        answer["epochs"],
        answer["signals"],
        answer["unmeasured"],
        *answer["marks"].values(),
    ):
        assert part


@pytest.mark.parametrize("run", [RUN, CUT])
def test_the_route_and_the_command_report_the_same(
    client: Client, logdir: Path, tmp_path: Path, run: str
) -> None:
    out = tmp_path / "report.json"
    assert main(["report", str(logdir), "--run", run, "--format", "json", "-o", str(out)]) == 0
    reported = json.loads(out.read_text(encoding="utf-8"))
    assert body(client, "report", run=run) == reported
    (found,) = reported["runs"]
    assert (found["run"], found["causes"][0]["cause"]) == (run, "retracing")


def test_the_route_and_the_command_compare_the_same(
    client: Client, logdir: Path, tmp_path: Path
) -> None:
    out = tmp_path / "comparison.json"
    sides = [f"{logdir}:{CUT}", f"{logdir}:{RUN}"]
    assert main(["compare", *sides, "--format", "json", "-o", str(out)]) == 0
    told = json.loads(out.read_text(encoding="utf-8"))
    route = body(client, "compare", base=json.dumps([CUT]), runs=json.dumps([RUN]))
    assert (told["base"], told["other"]) == (sides[:1], sides[1:])
    assert {**told, "base": [CUT], "other": [RUN]} == route
    assert route["outcome"] == "no_difference"  # the one is the beginning of the other
    assert {term["term"] for term in route["terms"]} >= {"healthy", "retracing"}


def test_a_cut_file_is_told(client: Client) -> None:
    (report,) = body(client, "report", run=CUT)["runs"]
    assert report["steps"] < STEPS
    assert any("cut" in note or "complete" in note for note in report["notes"]), report["notes"]


def test_each_bucket_adds_up(client: Client) -> None:
    for buckets in (10, 800):
        answer = body(client, "timeline", run=RUN, buckets=buckets)
        lost = np.sum([np.array(seconds) for seconds in answer["lost"].values()], axis=0)
        total = np.array(answer["healthy"]) + lost
        assert total == pytest.approx(np.array(answer["step_seconds"]["mean"]), abs=1e-5)
        assert sum(answer["count"]) == STEPS


def test_the_retraces_table(client: Client) -> None:
    (group,) = body(client, "retraces", run=RUN)["groups"]
    assert group["function"] == "train_step"
    assert group["argument"] == "rate"
    assert group["count"] == len(RETRACED)
    assert group["seconds"] == pytest.approx(len(RETRACED) * TRACING_SECONDS, rel=0.3)


def test_a_run_with_scalars_beside_it_is_no_other_run(client: Client) -> None:
    answer = body(client, "runs")
    assert [run["run"] for run in answer["runs"]] == [CUT, RUN]
    assert answer["other_runs"] == 1
