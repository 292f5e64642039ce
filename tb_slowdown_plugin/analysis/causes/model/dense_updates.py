"""Tables of which an optimizer moves all rows: a note, as some optimizers have to."""

from __future__ import annotations

from collections.abc import Iterable

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.causes.model.whole_tables import tell_looked_up
from tb_slowdown_plugin.analysis.prepare.unclocked.graphs.counted_work import share_of_tables
from tb_slowdown_plugin.analysis.text.wording import count
from tb_slowdown_plugin.catalog.events import DENSE_UPDATE
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY
from tb_slowdown_plugin.records.types import Fact


def tell_dense_updates(case: Case) -> Iterable[str]:
    """How much, where, and what moves less."""
    fact = _find(case)
    if fact is not None:
        yield (
            "Most of what the step's graph computes, as it is counted, moves all "
            f"{count(fact.numbers['rows'])} rows of a table of which it looks up "
            f"{tell_looked_up(case, fact.numbers)}, in {fact.subject}. Keras's "
            "optimizers keep numbers for each weight, and most change all of them in each step. "
            "`SGD` without `momentum` moves the rows that were looked up only; so does an "
            "optimizer of your own that gathers these rows, and scatters them back. A smaller "
            "table costs less: `tf.keras.layers.Hashing` gives many ids to one row. It isn't "
            "counted as lost, as with `Adam` all rows go on moving."
        )


def tell_dense_updates_shortly(case: Case) -> str:
    """The same in a headline."""
    if _find(case) is None:
        return ""
    return "But most of a step moves all rows of a table of which it looks up a few."


def _find(case: Case) -> Fact | None:
    """What is told of the graph in which it is most."""
    found = [
        (share_of_tables(case.run, fact.numbers), fact) for _, fact in case.run.facts(DENSE_UPDATE)
    ]
    share, fact = max(found, key=lambda one: one[0], default=(0.0, None))
    return fact if share >= MAJORITY else None
