"""Copies between the host and a device make the step longer.

How it looks: The phase that copies gets slower, or two profiler captures show more time in copies
while the device is idle. Or a TensorFlow 1 session converts what it is fed in each `run`.

Confused with:

- `input_pipeline`: The wait for the batch is over before the copy begins, and has its own account.
- `communication`: Gradient exchange between workers is timed as communication.
- `thermal`: A device with lower clocks computes more slowly. Here the computing stays the same and
  the copies grow.
- Healthy, overlapped copies: A copy behind which the device computes costs nothing and isn't
  counted.
- A blind spot: TensorFlow reports no copies to a running process. Without a phase such as
  `to_device` and without two captures, the time stays unexplained.

The seconds of a finding are named copies where a phase that copies has them, or where two captures,
one of steps with the finding and one of steps without, show that copies are most of what is longer.
Captures see a few steps: the seconds stay those that the step clock measured, and the confidence is
medium.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.captures import CapturePair, rise_of
from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, largest, to_place
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, same, snippet
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.causes.common.places.step_parts import main_phase
from tb_slowdown_plugin.analysis.causes.common.programs.program import UNKNOWN, Program
from tb_slowdown_plugin.analysis.causes.common.timing_text import (
    course,
    tell_seconds,
    usual_and_often,
)
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import duration, percent
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY

PHASES: Final = frozenset(
    {"host_device_transfer", "transfer", "copy", "to_device", "from_device", "to_host"}
)
"""Names of phases that say that they copy."""

_WORDS: Final = (("to_device",), ("from_device", "to_host"))
"""In the name of a phase that copies to the device, and to the host."""


def _can_copy_ahead(copies: Copies) -> bool:
    """To the device, by a `tf.data` pipeline that does not copy ahead already."""
    pipeline = copies.program.pipeline
    ahead = pipeline is not None and pipeline.has("CopyToDevice")
    return copies.to_device and not ahead and not copies.program.arrays


def _to_device(copies: Copies) -> bool:
    return copies.to_device


def _is_fed(copies: Copies) -> bool:
    return copies.is_fed


def _to_host_in_a_loop(copies: Copies) -> bool:
    return copies.to_host and not copies.program.in_fit


def copy_ahead() -> Advice:
    """While the step before runs."""
    return Advice(
        "Copy the next batch while the step runs. It must be the last stage of the pipeline.",
        snippet(
            new("ds = ds.apply(tf.data.experimental.prefetch_to_device(device))"),
        ),
        "One or two batches of device memory. `device` is a name such as "
        '`tf.config.list_logical_devices("GPU")[0].name`.',
        "at the end of your input pipeline",
    )


def read_rarely() -> Advice:
    """No wait for a value in each step."""
    return Advice(
        "Read values back in every 100th step: `float(loss)` and `.numpy()` wait for the device.",
        snippet(
            same("for step, batch in enumerate(dataset):", "    loss = train_step(batch)"),
            old("    losses.append(float(loss))"),
            new("    if step % 100 == 0:", "        losses.append(float(loss))"),
        ),
        "Fewer points in the charts.",
        "find `float(loss)` or `.numpy()` in the loop",
    )


def small_types() -> Advice:
    """A quarter of the bytes."""
    return Advice(
        "Copy images as bytes and make floats of them on the device: a quarter of what is copied.",
        snippet(
            old("ds = ds.map(lambda x: tf.cast(x, tf.float32) / 255)"),
            same("@tf.function", "def train_step(x):"),
            new("    x = tf.cast(x, tf.float32) / 255"),
            same("    return tf.reduce_mean(x)"),
        ),
        "One more operation in each step.",
        "find where the pipeline makes floats of images",
    )


def convert_once() -> Advice:
    """Nothing to convert in the loop."""
    return Advice(
        "Feed arrays that have their placeholder's type already, and keep in a variable of the "
        "graph what is the same in each step: the session converts lists and other types again in "
        "each `run`.",
        snippet(
            new("table = np.asarray(table, np.float32)  # once, as the placeholder has it"),
            same("for batch in batches:"),
            same("    value = sess.run(loss, {rows: table, x: batch})"),
        ),
        "None.",
        "before the loop",
    )


OFFERS: Final = (
    Offer(plain(convert_once), when=_is_fed),
    Offer(plain(copy_ahead), when=_can_copy_ahead),
    Offer(plain(small_types), when=_to_device),
    Offer(plain(read_rarely), when=_to_host_in_a_loop),
)


def explain(case: Case) -> Claim | None:
    """Claims what a session takes to convert its feeds, and growth that lies in copies."""
    return _by_feeds(case) or _by_phase(case) or _by_captures(case)


def _by_feeds(case: Case) -> Claim | None:
    """What the feeds of one line take."""
    found = case.of(names.FEEDING)
    if not found:
        return None
    main = largest(found)
    claimed = case.defect(main, found)
    place = names.detail(main.source)
    each, often = usual_and_often(case, main)
    where = f" in {place}" if place else ""
    return Claim(
        "host_device_transfer",
        claimed,
        f"the conversion of what a session is fed{where}",
        f"Before it runs, the session converts what it is fed{where}, {each} {often}: arrays of "
        "another type than their placeholder, or lists.",
        tuple(tell_seconds(case, claimed, "went into converting feeds")),
        advise(Copies(to_device=False, to_host=False, is_fed=True)),
        place=to_place(place, "run") if place else None,
    )


def _by_phase(case: Case) -> Claim | None:
    found = [
        (finding, part)
        for finding in case.core()
        if (part := main_phase(finding)) is not None and part[0] in PHASES
    ]
    if not found:
        return None
    name = found[0][1][0]
    return Claim(
        "host_device_transfer",
        tuple(finding for finding, _ in found),
        "copies between host and device",
        f"The phase `{name}`, which copies between host and device, got slower.",
        tuple(
            f"It takes {course(case, finding, case.account(names.PHASE, part))}; "
            f"{percent(min(1.0, share))} of the growth of the step is in it."
            for finding, (part, share) in found
        ),
        advise(Copies(Program.of(case.run), *_directions(name))),
    )


def _directions(phase: str) -> tuple[bool, bool]:
    """Whether a phase of this name copies to the device, and to the host; both where unsaid."""
    to_device, to_host = (any(word in phase for word in words) for words in _WORDS)
    return (to_device, to_host) if to_device or to_host else (True, True)


def _by_captures(case: Case) -> Claim | None:
    found = [
        (finding, rise)
        for finding in case.core()
        if (rise := rise_of(case, finding)) is not None
        and rise.during.devices
        and rise.in_part("copies") >= MAJORITY * rise.seconds
    ]
    if not found:
        return None
    return Claim(
        "host_device_transfer",
        tuple(finding for finding, _ in found),
        "copies between host and device",
        "Copies between host and device got slower, and the device is idle while they run.",
        tuple(_tell(case, rise) for _, rise in found),
        advise(Copies(Program.of(case.run))),
        "medium",
    )


def _tell(case: Case, rise: CapturePair) -> str:
    before, during = rise.before, rise.during
    lead = rise.leading("copies")
    most = f", most in {lead[0]}" if lead else ""
    share = percent(min(1.0, rise.in_part("copies") / rise.seconds))
    return (
        f"Two profiler captures: in {case.steps_text(during.rows)} copies take "
        f"{duration(during.parts['copies'])} of a step{most}, in {case.steps_text(before.rows)} "
        f"{duration(before.parts['copies'])}. That is {share} of the {duration(rise.seconds)} by "
        "which a step is longer. Other slow steps were timed, but not captured."
    )


@dataclass(frozen=True, slots=True)
class Copies:
    """What the record says of copies that take long."""

    program: Program = UNKNOWN
    to_device: bool = True
    """They go to the device, or nobody knows."""
    to_host: bool = True
    """They come from it, or nobody knows."""
    is_fed: bool = False
    """A session converts them from what it is fed."""


def advise(copies: Copies) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, copies)


EXAMPLES: Final = (Copies(), Copies(is_fed=True))
"""Evidence for its page in the documentation."""
