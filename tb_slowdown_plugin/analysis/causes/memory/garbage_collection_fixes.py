"""What to change where the garbage collector pauses the training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, same, snippet
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import listed


@dataclass(frozen=True, slots=True)
class Collections:
    """What the record says of the collections that cost the time."""

    callers: tuple[str, ...] = ()
    """Lines that asked for most of the full ones."""
    sessions: tuple[str, ...] = ()
    """Lines that asked for them by Keras's `clear_session`, which collects."""
    periodic: bool = False
    """They come at a fixed number of steps."""
    full: bool = True
    """Full collections are among them."""

    @property
    def forced(self) -> bool:
        """Whether the program asked for them, by the record."""
        return bool(self.callers or self.sessions)


def advise(collections: Collections) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, collections)


def _clears_sessions(collections: Collections) -> bool:
    return bool(collections.sessions)


def _is_automatic(collections: Collections) -> bool:
    return not collections.forced


def _is_automatic_and_full(collections: Collections) -> bool:
    return not collections.forced and collections.full


def _is_called(collections: Collections) -> bool:
    return bool(collections.callers)


def _looks_forced(collections: Collections) -> bool:
    """The record has no line, but they come as if a line asked for them."""
    return collections.periodic and not collections.forced


def clear_less_often(collections: Collections) -> Advice:
    """Not in the loop."""
    return Advice(
        f"Call `tf.keras.backend.clear_session()` at {listed(collections.sessions)} only before a "
        "new model is built: each call starts a full collection and drops compiled kernels.",
        snippet(
            new("tf.keras.backend.clear_session()", "model = build_model()"),
            same("for batch in dataset:"),
            old("    tf.keras.backend.clear_session()"),
            same("    model.train_on_batch(*batch)"),
        ),
        "Layers and functions of earlier models are kept until the next call.",
        f"at {listed(collections.sessions)}",
    )


def freeze() -> Advice:
    """Fewer objects to visit."""
    return Advice(
        "Freeze start-up objects after the first step (`gc.freeze()`): a full collection then "
        "visits only what was created later. Don't disable the collector: reference cycles would "
        "never be freed.",
        snippet(new("gc.collect()", "gc.freeze()")),
        "Frozen objects are never freed as part of a cycle; freeze once.",
        "after the first training step",
    )


def keep_less() -> Advice:
    """Fewer objects in all."""
    return Advice(
        "Keep fewer Python objects: a numpy array or a running mean instead of a list with an "
        "entry for each step.",
        snippet(
            old("losses.append({'step': step, 'loss': float(loss)})"),
            new("losses[step] = float(loss)"),
        ),
        "The array is made once, for all steps: `losses = np.zeros(steps)`.",
        "find what the loop collects in lists or dictionaries",
    )


def look_for_the_call() -> Advice:
    """Its line was not recorded."""
    return Advice(
        "Look for a `gc.collect()` call in the loop (`tf.keras.backend.clear_session()` calls it "
        "too) and move it after the loop.",
        snippet(
            same("for batch in dataset:", "    train_step(batch)"),
            old("    gc.collect()"),
            new("gc.collect()"),
        ),
        "Reference cycles aren't freed until the end of the epoch.",
        "in the loop, its callbacks, and what they call",
    )


def remove_the_call(collections: Collections) -> Advice:
    """At its line."""
    return Advice(
        f"Remove `gc.collect()` at {listed(collections.callers)}: Python collects automatically.",
        snippet(
            same("for epoch in range(epochs):", "    for batch in dataset:"),
            same("        train_step(batch)"),
            old("        gc.collect()"),
            new("    gc.collect()"),
        ),
        "If memory then grows, collect once per epoch, as here.",
        f"at {listed(collections.callers)}",
    )


def schedule() -> Advice:
    """At the end of an epoch."""
    return Advice(
        "Collect at a time of your choosing, once an epoch, and let full collections come "
        "rarely in between.",
        snippet(
            new("gc.set_threshold(10_000, 20, 100)"),
            same("for epoch in range(epochs):", "    train_one_epoch()"),
            new("    gc.collect()"),
        ),
        "Cycles live until the next collection: memory grows by what an epoch leaves behind.",
        "around the loop over epochs",
    )


OFFERS: Final = (
    Offer(remove_the_call, when=_is_called),
    Offer(clear_less_often, when=_clears_sessions),
    Offer(plain(look_for_the_call), when=_looks_forced),
    Offer(plain(freeze), when=_is_automatic_and_full),
    Offer(plain(schedule), when=_is_automatic),
    Offer(plain(keep_less), when=_is_automatic_and_full),
)

EXAMPLES: Final = (Collections(("train.py:9",)), Collections())
"""Evidence for its page in the documentation."""
