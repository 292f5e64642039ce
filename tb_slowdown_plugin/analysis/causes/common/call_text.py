"""What calls of the user's code did, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tb_slowdown_plugin.analysis.prepare.user_calls import Called
from tb_slowdown_plugin.analysis.text.wording import counted, duration, listed
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import CREATION
from tb_slowdown_plugin.catalog.parameters.shared import ALIKE

_DOING: Final[Mapping[str, str]] = {
    names.INPUT_WAIT: "input wait",
    names.TRACING: "tracing functions",
    names.FIRST_EXECUTION: "first executions of new functions",
    names.GC: "garbage collection",
    CREATION: "creating optimizers",
    names.VALIDATION: "computing",
    names.COMPUTING: "computing",
}


def tell_parts(each: Called) -> str:
    """How long a call takes, and what with."""
    seconds = each.seconds / each.calls
    whole = (
        f"A call of `{each.call}` in {each.line} takes {duration(seconds)}, measured in the first "
        f"{counted(round(each.calls), 'call')}"
    )
    if not each.parts:
        return f"{whole}."
    told: dict[str, float] = {}
    for part, total in each.parts.items():
        doing = _DOING.get(part, "other work")
        told[doing] = told.get(doing, 0.0) + total / each.calls
    rest = seconds - sum(told.values())
    told["other work of the call"] = rest
    shown = [
        f"{duration(took)} {doing}"
        for doing, took in sorted(told.items(), key=lambda pair: -pair[1])
        if took >= ALIKE * seconds or doing == _DOING[names.COMPUTING]
    ]
    return f"{whole}: {listed(shown, len(shown))}."
