"""What the program computes without a graph beside that of its steps: validation by hand.

It was asked for, as that of `fit` is: told, and not counted as lost unless it grows, or is mostly
the start of small operations. So is what it computes in all steps, such as augmentation.
"""

from __future__ import annotations

from collections.abc import Iterable

from tb_slowdown_plugin.analysis.causes.common.context import Case, lost_seconds
from tb_slowdown_plugin.analysis.causes.common.timing_text import usual_and_often, working_rows
from tb_slowdown_plugin.analysis.prepare.unclocked.eager_work import find_eager_work
from tb_slowdown_plugin.analysis.prepare.unclocked.flat_python import (
    FlatFunction,
    find_flat_functions,
)
from tb_slowdown_plugin.analysis.stats.time_trend import grows
from tb_slowdown_plugin.analysis.text.wording import count, duration, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names, stack_samples
from tb_slowdown_plugin.catalog.parameters.shared import MATTERS


def split_eager_work(case: Case) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """(validation by hand, the rest) of the findings, before any rule is asked.

    Args:
      case: with all findings of the engine.
    """
    work = find_eager_work(case.run)
    if work is None:
        return (), case.findings
    regular = tuple(each for each in case.core() if each.comes_by_count and not _grows(case, each))
    lost = lost_seconds(regular)
    is_plan = work.on_batches or case.wall_share(lost) < MATTERS
    return case.part(regular if is_plan and work.takes(lost) else ())


def _grows(case: Case, finding: Finding) -> bool:
    rows = working_rows(finding.lost_per_step)
    return grows(finding.lost_per_step[rows[rows >= case.diagnosis.warm_up_rows]])


def tell_eager_work(case: Case, found: tuple[Finding, ...]) -> Iterable[str]:
    """What it takes, how often, and in which line."""
    work = find_eager_work(case.run) if found else None
    if work is None:
        return
    for finding in found:
        each, often = usual_and_often(case, finding)
        total = lost_seconds((finding,))
        yield (
            f"Beside its steps the program computed for {duration(total)}, "
            f"{percent(case.wall_share(total))} of the run, without a graph in {work.place}: "
            f"{each} each (median), {often}. Such as "
            "validation by hand, it was asked for and isn't counted as lost. To spend less, do it "
            "less often, on fewer examples, or in a `tf.function`."
        )


def find_work_at_once(case: Case) -> FlatFunction | None:
    """The function that computes so all along, in operations that go on; None without one."""
    found = find_flat_functions(case.run, stack_samples.NO_GRAPH, at_once=True)
    return found[0] if found else None


def tell_work_at_once(case: Case) -> Iterable[str]:
    """What it takes of the steps, in which line, and what to do to spend less."""
    found = find_work_at_once(case)
    if found is not None:
        yield (
            "Beside the graph of its steps the program computes with operations outside of one, in "
            f"{names.place(found.place)}: {count(found.samples)} of {count(found.of)} samples of "
            "the training thread's stack were there, most of them in an operation that went on. It "
            "isn't counted as lost. To spend less, compute it on the batch and not on all rows, "
            "and prepare batches in the pipeline (`ds.map`), which works beside the step."
        )
