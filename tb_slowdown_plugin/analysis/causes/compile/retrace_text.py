"""Why a function is traced again, in one sentence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from tb_slowdown_plugin.analysis.causes.common.timing_text import cadence
from tb_slowdown_plugin.analysis.prepare.retrace_groups import Retrace, is_keras, quoted
from tb_slowdown_plugin.records.types import Change, Trace


def typical(retraces: Sequence[Retrace]) -> Trace:
    """A trace whose cause and changes are the most frequent of its group."""
    reasons: dict[tuple[str, ...], list[Retrace]] = defaultdict(list)
    for retrace in retraces:
        changed = tuple(f"{c.argument} {c.what}" for c in retrace.trace.changes)
        reason = (retrace.trace.cause, *changed)
        reasons[reason].append(retrace)
    return max(reasons.values(), key=len)[-1].trace


def tell_reason(retraces: Sequence[Retrace], trace: Trace, rows: tuple[int, int]) -> str:
    """Why, and how often.

    Args:
      retraces: of one function.
      trace: the typical one of them.
      rows: first and last row of the steps that lost time to them.
    """
    often = cadence([retrace.row for retrace in retraces], rows[1] - rows[0] + 1)
    if trace.cause == "new_object":
        if is_keras(trace):
            return (
                f"The {trace.function} is built anew {often}: `compile()` was called again, or "
                "the model is a new one."
            )
        return (
            f"A new `tf.function` is made around {quoted(trace)} {often}, so each one is traced "
            "from the start."
        )
    if trace.cause == "context":
        return (
            f"{quoted(trace)} is traced again {often} although no argument differs: the device, "
            "strategy or control-flow scope of the call does."
        )
    if not trace.changes:
        reason = f", for the reason logged: {trace.reason}" if trace.reason else ""
        return f"{quoted(trace)} is traced again {often}{reason}."
    change = trace.changes[0]
    return (
        f"Argument `{change.argument}` {_what_differs(change)} {often}, so TensorFlow builds the "
        "graph again."
    )


def _what_differs(change: Change) -> str:
    match change.what:
        case "python_number" | "python_value":
            kind = " ".join(change.after.split()[:2]).rstrip(",")
            return f"is a {kind} with a new value"
        case "python_object":
            return "is another Python object"
        case "shape":
            return "has a new shape"
        case "rank":
            return "changes its number of dimensions"
        case "dtype":
            return "changes its dtype"
        case "none":
            return "changes between `None` and a value"
        case "structure":
            return "changes its structure"
        case _:
            return "differs"
