"""The program of `tbslow demo` has the mistake that it is there for, and counts its steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb_slowdown_plugin.cli.demo.program import NEW_RATE_EVERY, record
from tb_slowdown_plugin.reader.logdir import read_runs
from tb_slowdown_plugin.records.types import Trace

pytestmark = pytest.mark.tensorflow


def test_each_new_rate_is_a_retrace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tensorflow")
    steps = 3 * NEW_RATE_EVERY
    record(str(tmp_path), steps)
    assert capsys.readouterr().out.split() == [str(number + 1) for number in range(steps)]
    (run,) = read_runs(str(tmp_path), warn=print)
    again = [
        event.what
        for event in run.events
        if isinstance(event.what, Trace) and event.what.cause == "signature"
    ]
    assert len(run.steps) == steps
    assert len(again) == 2
    assert {change.argument for trace in again for change in trace.changes} == {"learning_rate"}
