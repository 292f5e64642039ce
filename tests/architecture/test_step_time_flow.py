"""The step time passes few modules of `diagnose`, and seldom comes back to one.

A reader who asks what happens to the step time has to open each of them. Counted is a call from
one module of `tb_slowdown_plugin.analysis` into another that hands over the step time as an
argument: the seconds (S,) of the steps as they came or as they were made fit for analysis, the
core, the part of them that no account holds, or an object that has one of these. Series made of
it (logarithms of its multiples, buckets, losses) are other things, and what makes or measures a
value (`__init__`, `__len__`) hands nothing on.
"""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.steps import Steps
from tb_slowdown_plugin.analysis.report_builder import account
from tb_slowdown_plugin.reader.logdir import read_runs

ANALYSIS = "tb_slowdown_plugin.analysis."
MOST_MODULES = 15
MOST_ENTRIES = 2
"""Of a module, on average."""


class Flow:
    """Counts the calls that hand over the step time, from the first call of `diagnose` on."""

    def __init__(self) -> None:
        self.entries: Counter[str] = Counter()
        self._forms: list[np.ndarray[Any, Any]] = []

    def watch(self, frame: FrameType, event: str, result: object) -> None:
        code = frame.f_code
        module = frame.f_globals.get("__name__", "")
        if not module.startswith(ANALYSIS):
            return
        if event == "return" and isinstance(result, Steps):
            self._forms += [result.seconds, result.core]
        elif event == "call" and not code.co_name.startswith(("<", "__")):
            if code.co_name == "diagnose":
                self._forms.append(np.asarray(frame.f_locals["step_seconds"]))
            names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            given = [frame.f_locals.get(name) for name in names]
            if module != find_caller(frame) and self._forms and any(map(self._has_it, given)):
                self.entries[module.removeprefix(ANALYSIS)] += 1

    def _has_it(self, given: object) -> bool:
        if dataclasses.is_dataclass(given) and not isinstance(given, type):
            values = [getattr(given, each.name, None) for each in dataclasses.fields(given)]
            return any(map(self._is_step_time, values))
        return self._is_step_time(given)

    def _is_step_time(self, value: object) -> bool:
        return isinstance(value, np.ndarray) and any(
            value.shape == form.shape
            and (np.shares_memory(value, form) or np.array_equal(value, form))
            for form in self._forms
        )


def find_caller(frame: FrameType) -> str:
    """The module of `analysis` from which a call comes, also through a library."""
    caller = frame.f_back
    while caller is not None:
        name: str = caller.f_globals.get("__name__", "")
        if name.startswith(ANALYSIS):
            return name
        caller = caller.f_back
    return ""


@pytest.mark.parametrize("demo", ["healthy", "slow_map_stage", "gc_pauses", "function_made_anew"])
def test_the_step_time_passes_few_modules(
    root: Path, monkeypatch: pytest.MonkeyPatch, demo: str
) -> None:
    flow = Flow()
    diagnose = account.diagnose

    def watched(*arrays: Any, **more: Any) -> object:
        sys.setprofile(flow.watch)
        try:
            return diagnose(*arrays, **more)
        finally:
            sys.setprofile(None)

    monkeypatch.setattr(account, "diagnose", watched)
    (run,) = read_runs(str(root / "demo_logs" / demo), warn=print)
    account.account_for(run)
    assert {"diagnose", "residual.residual", "ledger.balance"} <= set(flow.entries)
    assert len(flow.entries) <= MOST_MODULES, flow.entries
    assert flow.entries.total() <= MOST_ENTRIES * len(flow.entries), flow.entries
