"""Callbacks and managers write and keep less: numbers of their constructors are others."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.context import to_place
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.catalog.events import INPUT_AT
from tb_slowdown_plugin.report.patches.code.source import Edit, Source, UncertainError
from tb_slowdown_plugin.report.patches.code.syntax import (
    call_at,
    calls_of,
    dotted,
    keyword,
    refuse_stars,
    statement_of,
)
from tb_slowdown_plugin.report.patches.evidence import Evidence, Patch

_FREQUENCY: Final = re.compile(r"^\+.*save_freq=([\d_]+)", re.MULTILINE)
_QUIET: Final = {"histogram_freq": "0", "update_freq": '"epoch"', "profile_batch": "0"}


def find(evidence: Evidence) -> Iterator[Callable[[], Patch]]:
    """A patch for each advice of the cause that the source at hand allows."""
    for sign, make in _PATCHES:
        for advice in evidence.cause.advice:
            if sign in advice.code:
                yield partial(_patch_of, evidence, make, advice)


def _patch_of(
    evidence: Evidence, make: Callable[[Evidence, Advice], Patch], advice: Advice
) -> Patch:
    return replace(make(evidence, advice), instead_of=(advice,))


def _keep_few(evidence: Evidence, _: Advice) -> Patch:
    place = evidence.cause.place
    if place is None:
        raise UncertainError(
            "The run doesn't record which line saves, and the patch changes that line's "
            "manager. Record the program again with this version."
        )
    source = evidence.sources.whole(place)
    saved = call_at(source, place.line, "save")
    manager = dotted(saved.func.value) if isinstance(saved.func, ast.Attribute) else ""
    made = [
        (call, statement)
        for call in calls_of(source.tree, "CheckpointManager")
        if isinstance(statement := statement_of(source, call), ast.Assign)
        and [dotted(target) for target in statement.targets] == [manager]
        and statement.value is call
    ]
    if not manager or len(made) != 1:
        raise UncertainError(
            f"{source.name} doesn't create `{manager}` in exactly one place. Set "
            "`max_to_keep` where it is created."
        )
    call, statement = made[0]
    refuse_stars(call)
    given = call.args[2] if len(call.args) > 2 else keyword(call, "max_to_keep")
    if not (isinstance(given, ast.Constant) and given.value is None):
        raise UncertainError(
            f"`{manager}` isn't created with `max_to_keep=None`, which is what keeps all "
            "checkpoints. Check the arguments where it is created."
        )
    if any(
        isinstance(node, ast.Attribute) and node.attr == "checkpoints"
        for node in ast.walk(source.tree)
    ):
        raise UncertainError(
            f"{source.name} reads `{manager}.checkpoints`, so older ones may be needed. "
            "Set `max_to_keep` yourself, if they aren't."
        )
    return evidence.patch(
        f"Keep the newest three checkpoints of `{manager}`, and not all of them.",
        source,
        statement.lineno,
        [Edit(*source.span(given), "3")],
        note="It deletes older checkpoints: keep elsewhere what you still need.",
    )


def _save_less_often(evidence: Evidence, advice: Advice) -> Patch:
    source, call = _constructor(evidence, "ModelCheckpoint")
    given = keyword(call, "save_freq")
    found = _FREQUENCY.search(advice.code)
    steps = int(found[1].replace("_", "")) if found else 0
    if not (isinstance(given, ast.Constant) and isinstance(given.value, int)):
        raise UncertainError(
            "`ModelCheckpoint` isn't given `save_freq` as a number, and the patch changes"
            f" that number. Set `save_freq={steps}`."
        )
    if steps <= given.value:
        raise UncertainError(
            f"`ModelCheckpoint` already saves only every {given.value} batches or less "
            "often. Make each save cheaper instead: the report lists how."
        )
    return evidence.patch(
        f"Save once in {steps:,} batches.",
        source,
        given.lineno,
        [Edit(*source.span(given), str(steps))],
        note="A crash loses the work since the last one.",
    )


def _write_less(evidence: Evidence, _: Advice) -> Patch:
    source, call = _constructor(evidence, "TensorBoard")
    loud = {
        name: given
        for name in _QUIET
        if (given := keyword(call, name)) is not None
        and not (isinstance(given, ast.Constant) and given.value in (0, "epoch"))
    }
    if not loud or not all(_is_plain(each) for each in loud.values()):
        raise UncertainError(
            "The arguments of `TensorBoard` aren't literal numbers, and the patch changes"
            " only literals. Change them where they are set."
        )
    told = ", ".join(f"`{name}={_QUIET[name]}`" for name in loud)
    return evidence.patch(
        f"Write less to TensorBoard: {told}.",
        source,
        call.lineno,
        [Edit(*source.span(given), _QUIET[name]) for name, given in loud.items()],
        note="Fewer points in the charts.",
    )


def _constructor(evidence: Evidence, name: str) -> tuple[Source, ast.Call]:
    """The call that makes a callback, in the file that calls `fit`.

    Raises:
      UncertainError: There is none, or several.
    """
    places = [to_place(subject) for subject in evidence.subjects(INPUT_AT)]
    if not places or places[0] is None:
        raise UncertainError(
            "The run doesn't record where `fit` is called, and the patch changes that "
            "file. Record the program again with this version."
        )
    source = evidence.sources.whole(places[0])
    made = calls_of(source.tree, name)
    if len(made) != 1:
        raise UncertainError(
            f"{source.name} doesn't create exactly one `{name}`. Change it where it is created."
        )
    refuse_stars(made[0])
    return source, made[0]


def _is_plain(node: ast.expr) -> bool:
    parts = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
    return all(isinstance(each, ast.Constant) for each in parts)


_PATCHES: Final = (
    ("max_to_keep=3", _keep_few),
    ("ModelCheckpoint(path, save_freq=", _save_less_often),
    ("tf.keras.callbacks.TensorBoard(", _write_less),
)
"""What stands in the code of an advice, and the patch of it."""
