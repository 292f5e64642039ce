"""Gradients computed for nothing: not used, only watched or added up, or computed again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    Claim,
    largest,
    lost_seconds,
    to_place,
)
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count, counted, ledger_seconds, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import WIDE_GRADIENT
from tb_slowdown_plugin.catalog.parameters.shared import MATTERS
from tb_slowdown_plugin.records.types import Fact

_UNUSED: Final = "gradients that aren't used"
_BY_OPERATIONS: Final = "by the products and sums in the step's graph that are only for them."
_BY_LOOPS: Final = (
    "by what the step's graph computes in loops that it has gone back through before: TensorFlow "
    "merges all else that the calls have in common."
)
_BY_SAMPLES: Final = "by the samples of the stack in that line, without the part of one call."


def claim_unused(case: Case, claimed: tuple[Finding, ...]) -> Claim:
    """Claims the seconds of such lines, and tells the first."""
    main = largest(claimed)
    place = names.detail(main.source)
    seconds = lost_seconds(claimed)
    widest = _find_widest(case)
    told = widest[place].numbers if place in widest else {}
    summary, advice = _tell_unused(place, told)
    repeats = told.get("repeated", 0) > 0
    source = _BY_OPERATIONS
    if repeats:
        source = _BY_LOOPS if "share" in told else _BY_SAMPLES
    return Claim(
        "backward_pass",
        claimed,
        f"{'a backward pass that is run again' if repeats else _UNUSED}: {place}",
        summary,
        (
            *map(_tell_numbers, widest.values()),
            f"About {ledger_seconds(seconds)} ({percent(case.wall_share(seconds))} of the run), "
            f"{source} All steps have them, so no clock can tell.",
        ),
        (advice,),
        "medium",
        "flat",  # also where another function trains before it
        place=to_place(place),
    )


def _tell_unused(place: str, told: Mapping[str, float]) -> tuple[str, Advice]:
    """What is computed for nothing in a line, and what to do instead."""
    if told.get("watched", 0) > 0:
        return (
            f"Each step computes gradients that move no variable, in {place}: only numbers are "
            "made of them.",
            _watch_less_often(place),
        )
    if told.get("summed", 0) > 0:
        return (
            f"Each step computes {count(told['summed'])} gradients of the same variables, in "
            f"{place}, and adds them up: one gradient of the sum of the losses is the same.",
            _one_of_the_sum(place),
        )
    if told.get("repeated", 0) > 0:
        return (
            f"Each step runs the same backward pass {count(told['repeated'])} times, for the "
            f"gradients of some variables each time, in {place}: one call gives all of them.",
            _ask_once(place),
        )
    if told.get("zeroed", 0) > 0:
        return (
            f"Each step computes gradients that are multiplied by zero, in {place}.",
            _leave_out_zeroed(place),
        )
    return (
        f"Each step computes gradients of variables that its optimizer doesn't update, in {place}.",
        _only_what_is_updated(place),
    )


def _one_of_the_sum(place: str) -> Advice:
    return Advice(
        "Add the losses up inside the tape, and ask for one gradient of the sum: the backward pass "
        "then goes through what they share once.",
        snippet(
            old("parts = [tape.gradient(loss, variables) for loss in losses]"),
            old("gradients = [tf.add_n(each) for each in zip(*parts)]"),
            new("gradients = tape.gradient(tf.add_n(losses), variables)"),
        ),
        "None, but for rounding.",
        f"in `{place}`",
    )


def _ask_once(place: str) -> Advice:
    return Advice(
        "Ask the tape once, with all variables in a list of lists: it goes back through what is "
        "recorded once, and the gradients come in the same lists. It needn't be persistent then.",
        snippet(
            old("gradients = [tape.gradient(loss, group) for group in groups]"),
            new("gradients = tape.gradient(loss, groups)"),
        ),
        "None.",
        f"in `{place}`",
    )


def _only_what_is_updated(place: str) -> Advice:
    return Advice(
        "Compute the gradients of those variables only that the optimizer updates, and clip only "
        "these: the backward pass then ends where the part that is trained begins.",
        snippet(
            old(
                "gradients = tape.gradient(loss, model.trainable_variables)",
                "optimizer.apply_gradients(zip(gradients[-2:], head.trainable_variables))",
            ),
            new(
                "gradients = tape.gradient(loss, head.trainable_variables)",
                "optimizer.apply_gradients(zip(gradients, head.trainable_variables))",
            ),
        ),
        "None; a norm over all gradients becomes one over those that are used.",
        f"in `{place}`",
    )


def _watch_less_often(place: str) -> Advice:
    return Advice(
        "Compute what is only watched in a function of its own, and call that every 50th step: the "
        "gradients that train the model don't need it.",
        snippet(
            old("loss, norms = train_step(batch)"),
            new("loss = train_step(batch)"),
            new("if step % 50 == 0:"),
            new("    norms = gradient_norms(batch)"),
        ),
        "Fewer points in its curve.",
        f"in `{place}`",
    )


def _leave_out_zeroed(place: str) -> Advice:
    return Advice(
        "Leave the variables that aren't trained out of `tape.gradient`, where their gradients are "
        "multiplied by zero: the backward pass then ends where the part that is trained begins.",
        snippet(
            old("gradients = tape.gradient(loss, encoder_variables + head_variables)"),
            old("gradients = [each * rate for each, rate in zip(gradients, rates)]"),
            new("gradients = tape.gradient(loss, head_variables)"),
            new("optimizer.apply_gradients(zip(gradients, head_variables))"),
        ),
        "A factor that is to change while training goes on needs a new `tf.function` then.",
        f"in `{place}`",
    )


def tell_unused(case: Case) -> Iterable[str]:
    """Gradients that no optimizer gets: no clock knows what they take, as all steps have them."""
    for fact in _find_unused(case):
        yield (
            f"{_tell_numbers(fact)} What the others take isn't measured, and all steps have it: "
            "call `tape.gradient` with the variables that are updated."
        )


def tell_unused_shortly(case: Case) -> str:
    """The same in a headline, of the one with the most; "" for none."""
    unused = _find_unused(case)
    if not unused:
        return ""
    most = max(unused, key=lambda fact: fact.numbers["elements"] - fact.numbers["updated_elements"])
    number = round(most.numbers["variables"] - most.numbers["updated"])
    return (
        f"Each step computes the gradients of {counted(number, 'variable')} that the optimizer "
        f"doesn't update, in `{most.subject}`."
    )


def _find_widest(case: Case) -> dict[str, Fact]:
    """Of each line, what was told when most of it was for nothing."""
    found: dict[str, Fact] = {}
    for _, fact in case.run.facts(WIDE_GRADIENT):
        most = found.setdefault(fact.subject, fact)
        if fact.numbers["updated_elements"] < most.numbers["updated_elements"]:
            found[fact.subject] = fact
    return found


def _tell_numbers(fact: Fact) -> str:
    numbers = fact.numbers
    if numbers.get("watched", 0) > 0:
        return (
            f"`{fact.subject}` computes the gradients of "
            f"{counted(round(numbers['variables']), 'variable')}"
            f"{_times(round(numbers['watched']))}, and the optimizer gets none of what is made of "
            "them: only a few numbers leave the function."
        )
    if numbers.get("summed", 0) > 0:
        return (
            f"`{fact.subject}` computes the gradients of "
            f"{counted(round(numbers['variables']), 'variable')}"
            f"{_times(round(numbers['summed']))}, and nothing but their sum is used."
        )
    if numbers.get("repeated", 0) > 0:
        return (
            f"`{fact.subject}` asks for the gradients of "
            f"{counted(round(numbers['variables']), 'variable')}; one tape is asked for gradients "
            f"of the same target {count(numbers['repeated'])} times a step."
        )
    zeroed = round(numbers.get("zeroed", 0))
    return (
        f"`{fact.subject}` computes the gradients of "
        f"{counted(round(numbers['variables']), 'variable')}, and the optimizer updates "
        f"{count(numbers['updated'])} of them, with "
        f"{percent(numbers['updated_elements'] / numbers['elements'])} of their numbers."
        + (f" It gets {counted(zeroed, 'gradient')} times zero." if zeroed else "")
    )


def _times(calls: int) -> str:
    return f", {calls} times a step" if calls > 1 else ""


def _find_unused(case: Case) -> list[Fact]:
    """Those of a quarter of the numbers and more whose work could not be counted."""
    return [
        fact
        for fact in _find_widest(case).values()
        if not fact.numbers.get("share", float("nan")) >= 0
        and fact.numbers["updated_elements"] <= (1 - MATTERS) * fact.numbers["elements"]
    ]
