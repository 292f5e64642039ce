"""The keys of what a report's JSON says of a run that goes on are a contract."""

from __future__ import annotations

from dataclasses import fields

import pytest

from tb_slowdown_plugin.analysis.report_types.live import AsOf, Confirming, Recent, Remaining, Stall


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        (AsOf, "step ended"),
        (Confirming, "seconds since_step growth_fraction candidate decided_step text"),
        (Recent, "seconds steps"),
        (Remaining, "steps seconds lost_seconds text"),
        (Stall, "since seconds place account threads other_threads text"),
    ],
)
def test_each_has_its_keys(kind: type, keys: str) -> None:
    assert [field.name for field in fields(kind)] == keys.split()
