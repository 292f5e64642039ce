"""Batch shapes are new at nearly every step, so memory and kernels can't be reused.

How it looks: Steps get slower where new shapes begin, and the number of distinct batch shapes keeps
growing.

Confused with:

- `retracing`: Here no function is retraced: it takes any shape.
- `xla_compilation`: With `jit_compile=True` each new shape is one compilation, timed by itself.
- Healthy, larger batches: Steps that are slower by about as much as their batches are larger are
  workload. A note gives both ratios.
- Healthy, bucketed shapes: A few shapes that return are reused. Fewer than 5 new shapes in 100
  steps aren't counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, span, to_place
from tb_slowdown_plugin.analysis.causes.common.fixes import full_batches, new, old, pad, snippet
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.causes.common.places.stage_lines import line_varying
from tb_slowdown_plugin.analysis.causes.common.programs.program import Program
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count, counted, duration, listed, rises
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.events import NEW_SHAPE, SHAPE
from tb_slowdown_plugin.catalog.parameters.causes import NEW_PER_STEP
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY, NEGLIGIBLE, SERIES
from tb_slowdown_plugin.records.types import Float

SHAPES: Final = "batch_shapes"

_IMAGES: Final = 4
"""Dimensions of a batch of images."""


def _batches_differ(shapes: Shapes) -> bool:
    differ = not shapes.seen or len({size[0] for size in shapes.sizes}) > 1
    return differ and not shapes.full_batches


def _images_differ(shapes: Shapes) -> bool:
    return not shapes.seen or (_examples_differ(shapes) and len(shapes.sizes[0]) == _IMAGES)


def _sequences_differ(shapes: Shapes) -> bool:
    return not shapes.seen or (_examples_differ(shapes) and len(shapes.sizes[0]) != _IMAGES)


def one_size() -> Advice:
    """All images alike."""
    return Advice(
        "Bring images to one size, or to a few.",
        snippet(
            old("ds = ds.map(decode)"),
            new(
                "ds = ds.map(lambda x: tf.image.resize_with_pad(decode(x), 224, 224),",
                "            num_parallel_calls=tf.data.AUTOTUNE)",
            ),
        ),
        "Small images are blown up and computed with; large ones lose detail.",
        "find the `map` that decodes images in your input pipeline",
    )


OFFERS: Final = (
    Offer(plain(pad), when=_sequences_differ),
    Offer(plain(one_size), when=_images_differ),
    Offer(plain(full_batches), when=_batches_differ),
)


def explain(case: Case) -> Claim | None:
    """Claims what steps take above those of the same work, where new shapes come all the time."""
    shapes = _shapes_by_row(case)
    if shapes is None:
        return None
    claimed = tuple(
        finding
        for finding in case.core()
        if finding.pattern in ("level_shift", "drift") and _is_churning(case, shapes, finding)
    )
    if not claimed:
        return None
    first, last = span(claimed)
    each = (shapes[last] - shapes[first]) / max(1, last - first)
    return Claim(
        "shape_churn",
        claimed,
        "ever-changing batch shapes",
        f"{count(100 * each)} of every 100 steps use a batch shape never seen before, so "
        "TensorFlow can't reuse buffers, kernels, or plans.",
        tuple(_evidence(case, shapes, (first, last))),
        advise(Shapes(tuple(varying(case, (first, last))), Program.of(case.run).full_batches)),
        "medium",
        place=to_place(line_varying(case)),
    )


def _shapes_by_row(case: Case) -> Float | None:
    """(S,) distinct shapes by the end of each step, between the samples on a straight line."""
    rows, values = case.signal(SHAPES)
    if len(rows) < 2 or values[-1] < SERIES:
        return None
    return np.interp(np.arange(1, len(case.run.steps) + 1), rows, values)


def _is_churning(case: Case, shapes: Float, finding: Finding) -> bool:
    """Whether new shapes come in the slow steps, and fewer or none before and after them."""
    first, last = finding.rows
    within = (shapes[last] - shapes[first]) / max(1, last - first)
    if within < NEW_PER_STEP:
        return False
    start = min(case.diagnosis.warm_up_rows, first)
    rows = first - start + len(shapes) - 1 - last
    if rows < NEGLIGIBLE * len(shapes):
        return True
    outside = (shapes[first] - shapes[start] + shapes[-1] - shapes[last]) / rows
    return bool(outside <= MAJORITY * within)


def varying(case: Case, rows: tuple[int, int]) -> list[str]:
    """The new shapes in rows (inclusive), each of the first tensor of the batch that varies."""
    told = [
        [f"({shape})" for shape in SHAPE.findall(fact.subject)]
        for row, fact in case.run.facts(NEW_SHAPE)
        if rows[0] <= row <= rows[1]
    ]
    for tensor in zip(*told, strict=False):
        distinct = list(dict.fromkeys(tensor))
        if len(distinct) > 1:
            return distinct
    return []


def _evidence(case: Case, shapes: Float, rows: tuple[int, int]) -> Iterable[str]:
    first, last = rows
    sampled, values = case.signal(SHAPES)
    begin = max(0, int(np.searchsorted(sampled, first, side="right")) - 1)
    yield (
        f"Batches had {counted(round(values[begin]), 'distinct shape')} by "
        f"{case.step_text(int(sampled[begin]))} and {count(shapes[last])} by "
        f"{case.step_text(last)}."
    )
    told = varying(case, rows)
    if told:
        yield f"New among them: {listed(told)}."
    period = case.run.steps.period_seconds
    start = min(case.diagnosis.warm_up_rows, first)
    if first == start:
        return
    before = float(np.median(period[start:first]))
    after = float(np.median(period[first : last + 1]))
    if rises(before, after):
        yield (
            f"The median step took {duration(before)} before {case.step_text(first)} and "
            f"{duration(after)} since then."
        )


@dataclass(frozen=True, slots=True)
class Shapes:
    """Shapes that the varying tensor of a batch had."""

    seen: tuple[str, ...] = ()
    """Such as "(32, 24, 24, 3)"; empty where not known."""
    full_batches: bool = False
    """The pipeline leaves out a smaller last batch."""

    @property
    def sizes(self) -> list[list[str]]:
        """Their dimensions."""
        return [shape.strip("()").split(", ") for shape in self.seen]


def advise(shapes: Shapes) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, shapes)


def _examples_differ(shapes: Shapes) -> bool:
    """In a dimension other than the batch."""
    return len({tuple(size[1:]) for size in shapes.sizes}) > 1


EXAMPLES: Final = (Shapes(),)
"""Evidence for its page in the documentation."""
