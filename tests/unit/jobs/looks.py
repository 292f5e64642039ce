"""Looks at runs that a test makes up."""

from __future__ import annotations

from typing import Any

from tb_slowdown_plugin.analysis.report_types.causes import Advice, Cause
from tb_slowdown_plugin.analysis.report_types.live import AsOf, Recent, Stall
from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.jobs.watch import RunLook

NOW = 1.8e9


def cause_of(cause: str = "retracing", seconds: float = 31.0, **values: Any) -> Cause:
    known: dict[str, Any] = {
        "lost_fraction": seconds / 100.0,
        "pattern": "level_shift",
        "confidence": "high",
        "steps": (800, 1000),
        "summary": "TensorFlow retraces `train_step`.",
        "evidence": (),
        "advice": (Advice("Pass a tensor."),),
    }
    return Cause(cause=cause, lost_seconds=seconds, **(known | values))


def stall_of(account: str | None = None) -> Stall:
    text = "No step since 12:03:11 (4 min 10 s): the training thread is in `get` (data.py:88)."
    return Stall(NOW - 250.0, 250.0, "get (data.py:88)", account, {}, 3, text)


def look_of(
    run: str = "run1",
    causes: tuple[Cause, ...] = (),
    *,
    is_live: bool = True,
    stall: Stall | None = None,
    step: int = 1000,
    **values: Any,
) -> RunLook:
    lost = sum(cause.lost_seconds for cause in causes)
    known: dict[str, Any] = {
        "verdict": "slowdown" if causes else "healthy",
        "headline": f"{lost:.1f} s of 1 min 40 s lost ({lost:.0f}%)" if causes else "Healthy.",
        "unexplained_seconds": 0.0,
        "wall_seconds": 100.0,
    }
    report = Report(
        run=run,
        steps=step,
        healthy_step_seconds=0.1,
        baseline="all steps",
        lost_seconds=lost,
        lost_fraction=lost / 100.0,
        causes=causes,
        suspects=(),
        workers=(),
        signals=(),
        completeness={},
        as_of=AsOf(step, NOW),
        recent=Recent(0.145, 50),
        stall=stall,
        **(known | values),
    )
    return RunLook(run, report, is_live, NOW)
