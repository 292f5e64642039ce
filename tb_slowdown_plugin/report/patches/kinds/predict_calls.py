"""`predict` on a few examples in a loop becomes `predict_on_batch`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.context import to_place
from tb_slowdown_plugin.analysis.prepare.user_calls import Called, called
from tb_slowdown_plugin.analysis.report_types.causes import Place
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.report.patches.code.source import Edit, UncertainError
from tb_slowdown_plugin.report.patches.code.syntax import call_at, keyword, refuse_stars
from tb_slowdown_plugin.report.patches.evidence import Evidence, Patch

_LEFT_OUT: Final = frozenset({"verbose", "batch_size"})
"""Arguments of `predict` that `predict_on_batch` does not have and whose values don't matter."""


def find(evidence: Evidence) -> Iterator[Callable[[], Patch]]:
    """A patch for each line that calls `predict` on a few examples, the costliest first."""
    accounts = evidence.run.steps.accounts
    lines = [name for name in accounts if names.family(name) == names.PREDICT]
    for name in sorted(lines, key=lambda each: -float(accounts[each].sum())):
        place = to_place(names.detail(name), "predict")
        if place is not None:
            calls = [each for each in called(evidence.run, name) if each.call == "predict"]
            yield partial(_replace, evidence, place, calls)


def _replace(evidence: Evidence, place: Place, calls: list[Called]) -> Patch:
    if any(each.batches > each.calls for each in calls):
        raise UncertainError(
            f"`predict` at {place.file}:{place.line} computes several batches, and "
            "`predict_on_batch` takes one. Call it for one batch at a time, if memory allows."
        )
    source = evidence.sources.at(place)
    call = call_at(source, place.line, "predict")
    refuse_stars(call)
    given = call.args[0] if call.args else keyword(call, "x")
    others = {each.arg for each in call.keywords} - {"x"} - _LEFT_OUT
    if given is None or len(call.args) > 1 or others or not isinstance(call.func, ast.Attribute):
        raise UncertainError(
            f"`predict` at {place.file}:{place.line} has arguments that "
            "`predict_on_batch` doesn't take. Remove them first."
        )
    _, end = source.span(call)
    _, receiver_end = source.span(call.func.value)
    name_start = source.span(call.func)[1] - len("predict")
    between = source.text[receiver_end:name_start]
    edits = [
        Edit(receiver_end, end, f"{between}predict_on_batch({source.segment(given)})"),
    ]
    shows = keyword(call, "verbose")
    is_quiet = isinstance(shows, ast.Constant) and shows.value == 0
    return evidence.patch(
        "Call `predict_on_batch`: `predict` makes a dataset in each call.",
        source,
        place.line,
        edits,
        changes_results="numerics" if keyword(call, "batch_size") else "no",
        note="" if is_quiet else "The progress bar of `predict` is no longer drawn.",
    )
