"""What keeps the live tensors, by the censuses of a run: in words, and the line that adds to it."""

from __future__ import annotations

from dataclasses import dataclass

from tb_slowdown_plugin.analysis.causes.common.context import Case, to_place
from tb_slowdown_plugin.analysis.report_types.causes import Place
from tb_slowdown_plugin.analysis.text.wording import count, size
from tb_slowdown_plugin.catalog.events import TENSOR_CENSUS, TENSORS_ADDED_AT
from tb_slowdown_plugin.catalog.parameters.shared import MATTERS, TELLING

_IN = " in "


@dataclass(frozen=True, slots=True)
class TensorHolder:
    """A list, a variable or an attribute that keeps tensors."""

    name: str
    """"list `history` of train.py"."""
    kind: str
    """The tensors: "float32 (32, 10)"."""
    row: int
    """When they were counted last."""
    tensors: float
    size_bytes: float
    grown_bytes: float
    """Since they were seen first; all of them where they were counted once."""
    place: Place | None
    """The line that adds to it."""

    def tell(self, case: Case) -> str:
        """In a sentence."""
        what = f"`{self.kind}`, {size(self.size_bytes)}"
        at = case.step_text(self.row)
        if self.tensors <= 1:
            return f"At {at} {self.name} was one tensor of {what}."
        return f"At {at} {self.name} held {count(self.tensors)} tensors of {what} in all."


def find_holder(case: Case, grown_bytes: float) -> TensorHolder | None:
    """What keeps most of what memory grew by; None where no census named it.

    Memory is sampled amid steps, too, with all that they compute: of that nothing is kept. A census
    at the end of the program may come when most is freed, and says nothing then.

    Args:
      case: the run.
      grown_bytes: how much the memory of tensors grew.
    """
    alive = float("inf")
    found: dict[str, TensorHolder] = {}
    began: dict[str, float] = {}
    places = dict(fact.subject.partition("|")[::-2] for _, fact in case.run.facts(TENSORS_ADDED_AT))
    for row, fact in case.run.facts(TENSOR_CENSUS):
        kind, is_held, name = fact.subject.partition(_IN)
        if not is_held:
            continue
        held = fact.numbers.get("bytes", 0.0)
        alive = fact.numbers.get("live_tensor_bytes", alive)
        grown = fact.numbers.get("grown", held - began.get(name, 0.0))
        began.setdefault(name, held)
        found[name] = TensorHolder(
            name,
            kind,
            row,
            fact.numbers.get("count", 0.0),
            held,
            grown,
            to_place(places.get(fact.subject, "")),
        )
    most = max(found.values(), key=lambda each: each.grown_bytes, default=None)
    least = max(MATTERS * min(grown_bytes, alive), TELLING * grown_bytes)
    return most if most and most.grown_bytes >= least else None
