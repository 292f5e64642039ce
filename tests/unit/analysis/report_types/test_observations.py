"""The keys of what a report's JSON says was seen are a contract."""

from __future__ import annotations

from dataclasses import fields

import pytest

from tb_slowdown_plugin.analysis.report_types.observations import (
    Annotation,
    ChangedScalar,
    DrawnFrom,
    PythonLine,
    PythonLines,
    RestartingGrowth,
    SignalState,
)


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        (SignalState, "signal status reason"),
        (RestartingGrowth, "cycles steps first_seconds last_seconds above_seconds"),
        (ChangedScalar, "tag before after step"),
        (
            DrawnFrom,
            "tag writer unit clock steps_per_point onset_step times_as_long pauses pause_seconds "
            "changed",
        ),
        (Annotation, "row step text"),
        (
            PythonLine,
            "place location before_fraction after_fraction before_seconds after_seconds",
        ),
        (PythonLines, "before_steps before_samples after_steps after_samples lines"),
    ],
)
def test_each_has_its_keys(kind: type, keys: str) -> None:
    assert [field.name for field in fields(kind)] == keys.split()
