"""What differs between two groups of runs in configuration and environment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tb_slowdown_plugin.analysis.compare.run_ledger import RunLedger
from tb_slowdown_plugin.analysis.prepare.run_settings import tell_setting


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A setting with other values on the other side."""

    name: str
    base: str
    """All values of a side, with commas between them."""
    other: str


def setting_names(runs: Sequence[RunLedger]) -> list[str]:
    """Each setting of some runs once, hyperparameters first."""
    return list(dict.fromkeys(name for run in runs for name in run.settings))


def compare_settings(
    base: Sequence[RunLedger], other: Sequence[RunLedger]
) -> Iterator[SettingChange]:
    """Each setting whose values differ: hyperparameters, then the environment."""
    for name in setting_names([*base, *other]):
        before, after = (
            ", ".join(sorted({tell_setting(run.settings, name) for run in side}))
            for side in (base, other)
        )
        if before != after:
            yield SettingChange(name, before, after)
