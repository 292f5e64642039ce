"""Tensors that a loop takes apart or puts together, moved as a whole each time: the line."""

from __future__ import annotations

from collections.abc import Mapping

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, same, snippet
from tb_slowdown_plugin.analysis.causes.common.places.counted_work import CountedWork, claim_counted
from tb_slowdown_plugin.analysis.causes.model.loops.wrapped_layers import tell_wrapped
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.events import PIECES


def claim_pieces(case: Case, pieces: tuple[Finding, ...]) -> Claim:
    """Claims the seconds of the line that costs most."""
    return claim_counted(case, pieces, {PIECES: _tell})


def _tell(numbers: Mapping[str, float], place: str) -> CountedWork:
    if numbers.get("wrapped"):
        return tell_wrapped(numbers, place)
    times = count(numbers["times"])
    if numbers["grown"]:
        return CountedWork(
            "a tensor that each round of a loop copies",
            f"Each step goes through a loop of {times} rounds in its graph, each of which copies "
            f"all that the rounds before it have made, to add a piece to it, in {place}.",
            ", by the numbers that these copies read and write, and those of their gradient. All "
            "steps have them, so no clock can tell",
            _write_to_array(place),
        )
    return CountedWork(
        "slices whose gradients are as large as the whole",
        f"Each step takes {times} slices of one tensor, in {place}. The gradient of each is as "
        "large as that tensor, zero outside of the slice, and all of them are added up.",
        ", by the numbers that these gradients read and write. All steps have them, so no clock "
        "can tell",
        _read_from_array(place) if numbers["rolled"] else _unstack(place),
    )


def _write_to_array(place: str) -> Advice:
    return Advice(
        "Write each piece to a `tf.TensorArray`, and stack them once after the loop.",
        snippet(
            old("outputs = tf.concat([outputs, state[:, tf.newaxis]], axis=1)"),
            new("array = array.write(t, state)  # before the loop: tf.TensorArray(tf.float32, T)"),
            new("outputs = tf.transpose(array.stack(), [1, 0, 2])  # after it"),
        ),
        "None, where no round needs what the rounds before it have made.",
        f"in `{place}`",
    )


def _read_from_array(place: str) -> Advice:
    return Advice(
        "Take the tensor apart once before the loop: the gradient of that puts all pieces "
        "together once.",
        snippet(
            new("array = tf.TensorArray(tf.float32, T).unstack(tf.transpose(states, [1, 0, 2]))"),
            same("for t in tf.range(T):"),
            old("    state = cell(states[:, t], state)"),
            new("    state = cell(array.read(t), state)"),
        ),
        "None.",
        f"in `{place}`",
    )


def _unstack(place: str) -> Advice:
    return Advice(
        "Take the tensor apart once: the gradient of `tf.unstack` puts all pieces together once.",
        snippet(
            old("for t in range(T):", "    state = cell(states[:, t], state)"),
            new("for piece in tf.unstack(states, axis=1):", "    state = cell(piece, state)"),
        ),
        "None.",
        f"in `{place}`",
    )
