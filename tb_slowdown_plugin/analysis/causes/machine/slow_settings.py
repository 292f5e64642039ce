"""Settings that make each step slower: a note where they are on throughout, else a row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, Mask, lost_seconds
from tb_slowdown_plugin.analysis.causes.common.pressure import lying_in, tell_medians, tell_rows
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import ledger_seconds, percent
from tb_slowdown_plugin.catalog.events import SLOW_SETTING
from tb_slowdown_plugin.catalog.slow_settings import SLOW_SETTINGS, SlowSetting
from tb_slowdown_plugin.records.run import Run


class SettingOn(NamedTuple):
    """One that was on."""

    setting: SlowSetting
    rows: Mask
    """(S,) the steps in which it was."""


def find_settings(run: Run) -> list[SettingOn]:
    """Those of which it is known, in the order of the catalog."""
    found: dict[str, Mask] = {}
    for row, fact in run.facts(SLOW_SETTING):
        rows = found.setdefault(fact.subject, np.zeros(len(run.steps), bool))
        rows[0 if fact.numbers.get("before") else row :] = fact.numbers.get("on", 0.0) > 0
    return [
        SettingOn(setting, found[setting.id])
        for setting in SLOW_SETTINGS.values()
        if setting.id in found and found[setting.id].any()
    ]


def claim_settings(case: Case) -> Claim | None:
    """Claims what steps take longer while a setting is on that was off before, or later."""
    for setting, rows in find_settings(case.run):
        slower = () if rows.all() else lying_in(case, rows, case.core())
        if slower:
            lost = lost_seconds(slower)
            return Claim(
                "profiling",
                slower,
                f"`{setting.name}`",
                f"Steps take longer while `{setting.name}` is on: it {setting.does}.",
                (
                    f"{ledger_seconds(lost)} ({percent(case.wall_share(lost))} of the run) is what "
                    f"steps took longer while it was on, in {tell_rows(case, rows)}.",
                    *tell_medians(case, rows),
                ),
                (Advice(setting.leave),),
                "medium",
            )
    return None


def tell_settings(case: Case) -> Iterable[str]:
    """Of each that is on throughout: no step is without."""
    for setting in _on_throughout(case):
        yield (
            f"`{setting.name}` is on in all steps: it {setting.does}. That makes each step longer, "
            "and no clock shows by how much; `tbslow try --only debugging_off` measures it. "
            f"{setting.leave}"
        )


def tell_settings_shortly(case: Case) -> str:
    """The same in a headline, of the first."""
    for setting in _on_throughout(case):
        return f"But `{setting.name}` is on, which makes each step longer."
    return ""


def _on_throughout(case: Case) -> Iterable[SlowSetting]:
    return (setting for setting, rows in find_settings(case.run) if rows.all())
