"""A pass, or a product, that was made before, in this step or another: how to do with one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, same, snippet
from tb_slowdown_plugin.analysis.causes.common.places.counted_work import CountedWork, claim_counted
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.events import (
    LOOP_INVARIANT,
    REPEATED_PASS,
    REPEATED_PRODUCT,
    REPEATED_ROWS,
    REPEATED_RUN,
    UNCHANGING_WORK,
)


def claim_passes(case: Case, passes: tuple[Finding, ...]) -> Claim:
    """Claims the seconds of the line that costs most."""
    return claim_counted(case, passes, _TELLS)


def _tell_run(numbers: Mapping[str, float], place: str) -> CountedWork:
    return CountedWork(
        _TWICE,
        f"A session computes again, in {place}, what it has just computed for {_before(numbers)} "
        "from the same feeds.",
        f": {percent(numbers['share'])} of what that run computes is in both, by its graph",
        _fetch_together(place),
    )


def _tell_pass(numbers: Mapping[str, float], place: str) -> CountedWork:
    if numbers.get("called"):
        return CountedWork(
            _TWICE,
            "Each step runs the model once more on the batch that it has just learned from, in "
            f"{place}. The pass for the gradient is in {_before(numbers)}.",
            ", by the samples of the training thread's stack that were in that call",
            _use_the_first(place),
        )
    return CountedWork(
        _TWICE,
        f"Each step runs the model once more on the batch that it learns from, in {place}, for "
        f"what is only reported. The pass for the gradient is in {_before(numbers)}.",
        f": {percent(numbers['share'])} of what the step's graph computes is for that",
        _use_the_first(place),
    )


def _tell_products(numbers: Mapping[str, float], place: str) -> CountedWork:
    times = count(numbers["times"])
    return CountedWork(
        f"the same product {times} times in each step",
        f"Each step multiplies the same numbers by the same weights {times} times, in {place}: "
        "TensorFlow computes the product once, and its gradients each time.",
        f": {percent(numbers['share'])} of what the step's graph computes is for all but one",
        _before_the_loop(place),
    )


def _tell_invariants(numbers: Mapping[str, float], place: str) -> CountedWork:
    times = count(numbers["times"])
    return CountedWork(
        f"the same numbers {times} times in each step",
        f"A loop in the step's graph computes {times} times what doesn't change from round to "
        f"round, in {place}.",
        f": {percent(numbers['share'])} of what the step's graph computes is for all but one round",
        _before_the_loop(place),
    )


def _tell_unchanging(numbers: Mapping[str, float], place: str) -> CountedWork:
    return CountedWork(
        "the same numbers in each step",
        "Each step computes, of arguments that are the same tensors each time, what doesn't change "
        f"from step to step, in {place}.",
        f": {percent(numbers['share'])} of what the step's graph computes is for that",
        _before_the_steps(place),
    )


def _tell_rows(numbers: Mapping[str, float], place: str) -> CountedWork:
    rows, times = (count(numbers[name]) for name in ("rows", "times"))
    return CountedWork(
        "a product of rows that were repeated",
        f"Each step multiplies {rows} rows, in {place}, each of which was repeated {times} times "
        "just before.",
        ", by the products in the step's graph that give the same again, and by their gradients. "
        "All steps have them, so no clock can tell",
        _repeat_later(place),
    )


_TWICE: Final = "the same pass through the model twice"
_TELLS: Final = {
    REPEATED_RUN: _tell_run,
    REPEATED_PASS: _tell_pass,
    REPEATED_PRODUCT: _tell_products,
    LOOP_INVARIANT: _tell_invariants,
    UNCHANGING_WORK: _tell_unchanging,
    REPEATED_ROWS: _tell_rows,
}


def _before(numbers: Mapping[str, float]) -> str:
    line = round(numbers["after"])
    return f"line {line}" if line else "the line before it"


def _fetch_together(place: str) -> Advice:
    return Advice(
        "Fetch all of it in one `run`: a session computes once what several fetches need.",
        snippet(
            old("sess.run(train, feed)", "value = sess.run(loss, feed)"),
            new("_, value = sess.run([train, loss], feed)"),
        ),
        "The values may then be those of the weights before the update.",
        f"in `{place}`",
    )


def _use_the_first(place: str) -> Advice:
    return Advice(
        "If it is only reported: report what the pass for the gradient gives, and evaluate with "
        "another batch, now and then.",
        snippet(
            old("metric.update_state(y, model(x, training=False))"),
            new("metric.update_state(y, y_pred)  # of the pass under the tape"),
        ),
        "The values are then those of the weights before the update, with dropout.",
        f"in `{place}`",
    )


def _before_the_loop(place: str) -> Advice:
    return Advice(
        "Compute it before the loop: its gradient is then one, of the sum over the rounds.",
        snippet(
            new("keys = self.project(memory)"),
            same("for step in range(steps):"),
            old("    state = self.attend(state, self.project(memory))"),
            new("    state = self.attend(state, keys)"),
        ),
        "None.",
        f"in `{place}`",
    )


def _before_the_steps(place: str) -> Advice:
    return Advice(
        "Compute it once, before the first step, and give the step what comes of it.",
        snippet(
            new("propagation = tf.linalg.inv(matrix)"),
            same("for step in range(steps):"),
            old("    train_step(features, matrix)  # inverts it"),
            new("    train_step(features, propagation)"),
        ),
        "What comes of it stays in memory.",
        f"in `{place}`",
    )


def _repeat_later(place: str) -> Advice:
    return Advice(
        "Repeat, or enlarge, what the product gives: it then has as many rows less.",
        snippet(
            old("x = Conv2D(16, 1)(UpSampling2D(4)(x))"),
            new("x = UpSampling2D(4)(Conv2D(16, 1)(x))"),
        ),
        "None; where pixels are interpolated, an activation between the two gives others.",
        f"in `{place}`",
    )
