"""What the program computes beside its steps without a graph, every so many: validation by hand.

It was asked for, as that of `fit` is: told, and not counted as lost unless it grows, or is mostly
the start of small operations.
"""

from __future__ import annotations

from collections.abc import Iterable

from tb_slowdown_plugin.analysis.causes.common.context import Case, lost_seconds
from tb_slowdown_plugin.analysis.causes.common.timing_text import usual_and_often, working_rows
from tb_slowdown_plugin.analysis.prepare.unclocked.eager_work import find_eager_work
from tb_slowdown_plugin.analysis.stats.time_trend import grows
from tb_slowdown_plugin.analysis.text.wording import duration, percent
from tb_slowdown_plugin.analysis.types import Finding
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
