"""XLA compiles again although nothing is retraced."""

from __future__ import annotations

from collections.abc import Iterable

from tb_slowdown_plugin.analysis.advice import xla_compilation as advice
from tb_slowdown_plugin.analysis.rules.case import Case, Claim
from tb_slowdown_plugin.analysis.rules.plain_accounts import tell_seconds
from tb_slowdown_plugin.analysis.wording import counted
from tb_slowdown_plugin.records import names


def explain(case: Case) -> Claim | None:
    """Claims the seconds of compilations that no trace explains."""
    claimed = case.of(names.XLA_COMPILATION)
    if not claimed:
        return None
    return Claim(
        "xla_compilation",
        claimed,
        "XLA compilation",
        "XLA compiles again for new shapes or values; no retrace shows it.",
        tuple(_evidence(case, tell_seconds(case, claimed, "went into compiling"))),
        advice.advise(),
    )


def _evidence(case: Case, seconds: Iterable[str]) -> Iterable[str]:
    yield from seconds
    jitted = sorted({g.trace.function for g in case.graphs if g.trace.jit_compile})
    if jitted:
        shown = ", ".join(f"`{function}`" for function in jitted[:3])
        yield f"{counted(len(jitted), 'function')} with `jit_compile=True`: {shown}."
