"""Functions that work for each other: one that is called by another is a part of its work."""

from __future__ import annotations

from collections import Counter, defaultdict

from tb_slowdown_plugin.analysis.prepare.unclocked.stack_sets import (
    StackSet,
    facts_of,
    find_training_unit,
    function_of,
    samples_of,
)
from tb_slowdown_plugin.catalog import names, stack_samples
from tb_slowdown_plugin.catalog.parameters.shared import MOSTLY


def work_by_callers(sets: list[StackSet], work: str) -> list[frozenset[str]]:
    """The functions that do a kind of work, the most first; those that work for another with it.

    What the loop that trains calls, or what calls that loop, is work of its own.

    Args:
      sets: Samples of the training thread's stack.
      work: The number of a place's samples that counts.

    Returns:
      Functions as `function_of` names them, each in one group.
    """
    does: Counter[str] = Counter()
    for fact in facts_of(sets):
        does[function_of(fact.subject)] += round(fact.numbers.get(work, 0.0))
    working = {function for function, samples in does.items() if samples}
    callers = _main_callers(sets)
    loop = find_training_unit(sets)
    loop = function_of(loop) if loop.startswith(names.SCRIPT) else loop
    around = set(_chain(loop, callers))
    groups: dict[str, set[str]] = defaultdict(set)
    for function in working:
        top = function
        for caller in _chain(function, callers):
            if caller in around:
                break
            if caller in working:
                top = caller
        groups[top].add(function)
    found = sorted(groups.values(), key=lambda group: (-sum(does[f] for f in group), min(group)))
    return [frozenset(group) for group in found]


def _main_callers(sets: list[StackSet]) -> dict[str, str]:
    """Function -> the one that had called it in most of its samples."""
    samples: Counter[str] = Counter()
    called: dict[str, Counter[str]] = defaultdict(Counter)
    for fact in facts_of(sets):
        function = function_of(fact.subject)
        samples[function] += round(samples_of(fact))
        for name, number in fact.numbers.items():
            if name.startswith(stack_samples.CALLED_BY):
                caller = function_of(name.removeprefix(stack_samples.CALLED_BY))
                called[function][caller] += round(number)
    found = {function: each.most_common(1)[0] for function, each in called.items()}
    return {
        function: caller
        for function, (caller, number) in found.items()
        if caller != function and number >= MOSTLY * samples[function]
    }


def _chain(function: str, callers: dict[str, str]) -> list[str]:
    """A function, who calls it, who calls that one, and so on."""
    chain = [function]
    while (caller := callers.get(chain[-1])) is not None and caller not in chain:
        chain.append(caller)
    return chain
