"""What a function of the program takes in Python, in every step or every so many: its line."""

from __future__ import annotations

from dataclasses import replace

from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    Claim,
    largest,
    lost_seconds,
    to_place,
)
from tb_slowdown_plugin.analysis.causes.common.timing_text import usual_and_often, working_rows
from tb_slowdown_plugin.analysis.causes.machine import flat_python_fixes
from tb_slowdown_plugin.analysis.prepare.step_kinds import run_graphs
from tb_slowdown_plugin.analysis.prepare.unclocked.eager_work import (
    find_eager_functions,
    find_eager_work,
)
from tb_slowdown_plugin.analysis.prepare.unclocked.flat_python import WORKS, find_flat_functions
from tb_slowdown_plugin.analysis.prepare.unclocked.regular_function import find_regular_function
from tb_slowdown_plugin.analysis.text.wording import count, ledger_seconds, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.ledger import UNEXPLAINED_FLOOR
from tb_slowdown_plugin.catalog.parameters.shared import SEVERAL


def claim(case: Case) -> Claim | None:
    """Claims the seconds of a function that works in Python, in every step or every so many."""
    working = case.of(
        names.CONVERTED, names.COPIED, names.EAGER, names.OWN_PYTHON, names.GRAPH_PYTHON
    )
    if not working:
        return _claim_eager_work(case) or _claim_regular_function(case)
    main = largest(working)
    claimed = tuple(finding for finding in working if finding.source == main.source)
    place = names.place(names.detail(main.source))
    if names.family(main.source) == names.GRAPH_PYTHON:
        return _tell_called(case, claimed, place)
    evidence = tuple(_tell_samples(case, finding) for finding in claimed)
    if names.family(main.source) == names.CONVERTED:
        return _tell_converted(case, claimed, place, evidence)
    if names.family(main.source) == names.COPIED:
        return _tell_copied(case, claimed, place, evidence)
    if names.family(main.source) == names.EAGER:
        if run_graphs(case.run):
            return _tell_eager(case, claimed, place, evidence)
        return _tell_gradients(case, claimed, place, evidence)
    return Claim(
        "python_overhead",
        claimed,
        f"work in Python: {place}",
        f"The program computes for {_often(case, main)} in Python, in "
        f"{_within(names.detail(main.source))}, while TensorFlow waits.",
        evidence,
        (flat_python_fixes.vectorize(place), flat_python_fixes.work_beside(place)),
        "medium",
        place=to_place(place),
    )


def _claim_eager_work(case: Case) -> Claim | None:
    """Small operations that the program starts every so many steps: what isn't its plan.

    All of them, or those of a function.

    Every so many, or so many and one more, as at the end of an epoch: then they are stalls.
    """
    stalls = tuple(
        each for each in case.stalls() if len(working_rows(each.lost_per_step)) >= SEVERAL
    )
    claimed = (*(each for each in case.core() if each.comes_by_count), *stalls)
    lost = lost_seconds(claimed)
    found = (find_eager_work(case.run), *find_eager_functions(case.run)) if claimed else ()
    fitting = (each for each in found if each and not each.on_batches and each.takes(lost))
    work = next(fitting, None)
    if work is None:
        return None
    told = _tell_eager(
        case,
        claimed,
        work.place,
        (
            f"{ledger_seconds(lost)} ({percent(case.wall_share(lost))} of the run). By samples of "
            f"the training thread's stack, {count(work.samples)} of {count(work.of)} were in "
            "TensorFlow or Keras outside of a graph, mostly there.",
        ),
    )
    return replace(told, pattern="periodic") if stalls else told


def _claim_regular_function(case: Case) -> Claim | None:
    """What comes back with every so many steps, and no clock knows: the function that does it."""
    claimed = tuple(finding for finding in case.core() if finding.comes_by_count)
    lost = lost_seconds(claimed)
    if case.wall_share(lost) < UNEXPLAINED_FLOOR:
        return None
    found = find_regular_function(case.run, lost)
    if found is None:
        return None
    return Claim(
        "python_overhead",
        claimed,
        f"work in Python: {found.place}",
        f"Beside its steps the program works for {_often(case, largest(claimed))}, in "
        f"{found.place}, while TensorFlow waits.",
        (
            f"{ledger_seconds(lost)} ({percent(case.wall_share(lost))} of the run). By samples of "
            f"the training thread's stack, {count(found.samples)} of {count(found.of)} were in "
            "that function.",
        ),
        (flat_python_fixes.vectorize(found.place), flat_python_fixes.do_less_often(found.place)),
        "medium",
        place=to_place(found.place),
    )


def _tell_called(case: Case, claimed: tuple[Finding, ...], place: str) -> Claim:
    seconds = lost_seconds(claimed)
    return Claim(
        "python_overhead",
        claimed,
        f"work in Python: {place}",
        f"The step's graph calls {place}, a function in Python, and waits for it: for "
        f"{_often(case, largest(claimed))}.",
        (
            f"{ledger_seconds(seconds)} ({percent(case.wall_share(seconds))} of the run), timed "
            "around its calls, which come from a thread of TensorFlow's.",
        ),
        (
            flat_python_fixes.write_in_tensorflow(place),
            flat_python_fixes.call_less_often(place),
        ),
        "medium",
        place=to_place(place),
    )


def _tell_eager(
    case: Case, claimed: tuple[Finding, ...], place: str, evidence: tuple[str, ...]
) -> Claim:
    return Claim(
        "python_overhead",
        claimed,
        f"operations one by one in {place}",
        "Beside its graph, the program starts TensorFlow operations from Python, one at a time, "
        f"in {place}: for {_often(case, largest(claimed))}.",
        evidence,
        (flat_python_fixes.make_graph(place), flat_python_fixes.take_whole_batch(place)),
        "medium",
        place=to_place(place),
    )


def _tell_converted(
    case: Case, claimed: tuple[Finding, ...], place: str, evidence: tuple[str, ...]
) -> Claim:
    return Claim(
        "python_overhead",
        claimed,
        f"a list made a tensor in {place}",
        "TensorFlow looks at each element of a list to make a tensor of it, in "
        f"{place}: for {_often(case, largest(claimed))}.",
        evidence,
        (flat_python_fixes.convert_once(place), flat_python_fixes.take_constant(place)),
        "medium",
        place=to_place(place),
    )


def _tell_copied(
    case: Case, claimed: tuple[Finding, ...], place: str, evidence: tuple[str, ...]
) -> Claim:
    return Claim(
        "python_overhead",
        claimed,
        f"an array made a tensor in {place}",
        "TensorFlow copies a large array to make a tensor of it, in "
        f"{place}: for {_often(case, largest(claimed))}.",
        evidence,
        (flat_python_fixes.copy_once(place), flat_python_fixes.take_rows_first(place)),
        "medium",
        place=to_place(place),
    )


def _tell_gradients(
    case: Case, claimed: tuple[Finding, ...], place: str, evidence: tuple[str, ...]
) -> Claim:
    return Claim(
        "python_overhead",
        claimed,
        f"gradients one operation at a time in {place}",
        "Beside its graphs, the program computes gradients outside of them, one operation at a "
        f"time, in {place}: for {_often(case, largest(claimed))}.",
        evidence,
        (flat_python_fixes.take_gradients_in_graph(place), flat_python_fixes.do_less_often(place)),
        "medium",
        place=to_place(place),
    )


def _often(case: Case, finding: Finding) -> str:
    each, often = usual_and_often(case, finding)
    return f"about {each} {often}"


def _tell_samples(case: Case, finding: Finding) -> str:
    family = names.family(finding.source)
    functions = find_flat_functions(case.run, WORKS[family])
    found = next((f for f in functions if f.place == names.detail(finding.source)), None)
    seconds = finding.lost_seconds
    told = (
        f"{ledger_seconds(seconds)} ({percent(case.wall_share(seconds))} of the run), by samples "
        "of the training thread's stack"
    )
    if family == names.EAGER and found is None:
        return (
            f"{ledger_seconds(seconds)} ({percent(case.wall_share(seconds))} of the run) is what "
            "steps with them take longer than steps that run the same graphs only."
        )
    if found is None:
        return f"{told}."
    if family == names.EAGER:
        return (
            f"{told}: {count(found.samples)} of {count(found.of)} were there, and "
            f"{count(found.working)} of those in TensorFlow or Keras outside of a graph."
        )
    if family == names.CONVERTED:
        return (
            f"{told}: in {count(found.working)} of {count(found.of)} it did so in "
            f"{_code_of(found.place)}."
        )
    if family == names.COPIED:
        return f"{told}: in {count(found.working)} of {count(found.of)} an array was copied there."
    return (
        f"{told}: in {count(found.working)} of {count(found.of)} it ran Python in "
        f"{_code_of(found.place)}, or in what that calls outside of TensorFlow."
    )


def _within(subject: str) -> str:
    """A function by one of its lines; a script's lines are in none."""
    place = names.place(subject)
    return f"lines of the script, such as {place}" if subject.startswith(names.SCRIPT) else place


def _code_of(subject: str) -> str:
    is_script = subject.startswith(names.SCRIPT)
    return "the script's own lines" if is_script else f"`{subject.partition(' (')[0]}`"
