"""Batches that the training thread makes for itself, in a generator or a loader of the program."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, lost_seconds, to_place
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, same, snippet
from tb_slowdown_plugin.analysis.causes.common.timing_text import usual_and_often
from tb_slowdown_plugin.analysis.prepare.unclocked.flat_python import find_flat_functions
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count, ledger_seconds, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names, stack_samples


def claim(case: Case, claimed: tuple[Finding, ...], main: Finding) -> Claim:
    """Claims lost input seconds most of which pass in such a generator.

    Args:
      case: The run.
      claimed: All findings of input.
      main: That of the generator.
    """
    place = names.place(names.detail(main.source))
    each, often = usual_and_often(case, main)
    waited = lost_seconds(tuple(finding for finding in claimed if finding is not main))
    return Claim(
        "input_pipeline",
        claimed,
        f"input made between steps, in {place}",
        f"The training thread makes its next batch itself, in {place}, while TensorFlow waits: "
        f"about {each} {often}.",
        (
            tell(case, main),
            *([f"Another {ledger_seconds(waited)} was lost to other input."] if waited else []),
        ),
        (_keep_what_stays(place), _make_ahead()),
        "medium",
        place=to_place(place),
    )


def tell(case: Case, finding: Finding) -> str:
    """What it comes to, and how often it was seen."""
    seconds = finding.lost_seconds
    told = f"{ledger_seconds(seconds)} ({percent(case.wall_share(seconds))} of the run)"
    feeding = find_flat_functions(case.run, stack_samples.FEEDS)
    if not feeding:
        return f"{told} was lost to what feeds the loop."
    (found,) = feeding
    return (
        f"{told} was lost to what feeds the loop: in {count(found.working)} of {count(found.of)} "
        "samples of its stack the training thread was in a generator or a loader of the program."
    )


def _keep_what_stays(place: str) -> Advice:
    return Advice(
        "Read and prepare once what is the same in every epoch, and make only what is random for "
        "each batch, for the whole batch at once.",
        snippet(
            same("def batches():"),
            new("    images = np.stack([decode(file) for file in files])  # once"),
            same("    for rows in order():"),
            old("        yield np.stack([flip(decode(files[row])) for row in rows])"),
            new("        yield flip_all(images[rows])"),
        ),
        "All of it in RAM.",
        f"in `{place}`",
    )


def _make_ahead() -> Advice:
    return Advice(
        "Or make the next batches in another thread while this one trains: reading, decompressing, "
        "and NumPy on large arrays let it go on.",
        snippet(
            new("ds = tf.data.Dataset.from_generator(batches, output_signature=spec).prefetch(2)"),
            old("for x, y in batches():"),
            new("for x, y in ds:"),
        ),
        "Python code of one thread runs at a time: what loops in Python gains nothing by it.",
    )
