"""Validation waits for its own data."""

from __future__ import annotations

from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.call_text import tell_parts
from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, lost_seconds, to_place
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, same, snippet
from tb_slowdown_plugin.analysis.causes.common.timing_text import (
    cadence,
    tell_seconds,
    working_rows,
)
from tb_slowdown_plugin.analysis.prepare.user_calls import call_of, called
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import duration, ledger_seconds, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names

ACCOUNT: Final = names.account(names.INPUT_WAIT, names.OF_VALIDATION)


def claim(case: Case, claimed: tuple[Finding, ...]) -> Claim:
    """Claims lost input wait most of which is validation's.

    Args:
      case: The run.
      claimed: All findings in input wait.
    """
    wait = case.account(names.INPUT_WAIT, names.OF_VALIDATION)
    rows = working_rows(wait)
    own = tuple(each for each in claimed if each.source == ACCOUNT)
    others = tuple(each for each in claimed if each.source != ACCOUNT)
    calls = sorted(
        (
            each
            for account in case.run.steps.accounts
            if call_of(account)[0] == "evaluate"
            for each in called(case.run, account)
        ),
        key=lambda each: -each.parts.get(names.INPUT_WAIT, 0.0),
    )
    by = f"`evaluate` in {calls[0].line}" if calls else "validation"
    whole = wait + case.account(names.VALIDATION)
    share = percent(float(wait.sum()) / float(whole.sum()))
    return Claim(
        "input_pipeline",
        claimed,
        "input wait of validation",
        f"{by[0].upper() + by[1:]} waits {duration(float(np.median(wait[rows])))} for its own "
        f"input {cadence(rows, len(case.run.steps))}, {share} of the time of validation.",
        (
            f"{ledger_seconds(lost_seconds(own))} ({percent(case.wall_share(lost_seconds(own)))} "
            "of the run) was input wait of validation; the input wait of the steps isn't in it.",
            *tell_seconds(case, others, "was other input wait"),
            *(tell_parts(each) for each in calls),
        ),
        (no_shuffle(),),
        place=to_place(calls[0].line, "evaluate") if calls else None,
    )


def no_shuffle() -> Advice:
    """What needs no order, made ready once."""
    return Advice(
        "Leave `shuffle` out of the validation data, and cache them: the shuffle buffer refills "
        "before each validation, and the result is the same in any order.",
        snippet(
            old("val_ds = val_ds.map(parse).shuffle(10_000).batch(64)"),
            new("val_ds = val_ds.map(parse).batch(64).cache().prefetch(tf.data.AUTOTUNE)"),
            same("model.evaluate(val_ds)"),
        ),
        "The cache keeps the validation data in memory.",
        "where the validation data is created",
    )
