"""How soon TensorBoard says that a live training got slower, and names the cause.

    python benchmarks/live_slowdown.py [--keep FOLDER] [KIND ...]

Trains each kind of `tests/integration/slowing_training.py` beside a real `tensorboard` with its
default reload interval, two at a time, and polls the report every second. Takes 2 minutes a pair.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).parent.parent / "tests"
sys.path[:0] = [str(TESTS)]

from integration.live_answers import (  # noqa: E402
    CAUSES,
    JUDGED_SECONDS,
    NAMED_SECONDS,
    Watched,
    watch,
)

_BEFORE_SECONDS = 25.0
_AFTER_SECONDS = 55.0


def describe(one: Watched) -> str:
    """One line on what was answered."""
    judged, named = one.judged_seconds, one.named_seconds
    contradictions = one.contradictions()
    ok = judged <= JUDGED_SECONDS and named <= NAMED_SECONDS and not contradictions
    return (
        f"{one.kind:<10} {len(one.answers)} answers; the last healthy one {judged:.1f} s after the "
        f"change, {CAUSES[one.kind]} named after {named:.1f} s, {len(contradictions)} "
        f"contradictions: {'ok' if ok else 'NOT OK'}"
    )


def main() -> None:
    """Runs the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", default=list(CAUSES), metavar="KIND")
    parser.add_argument("--keep", type=Path, help="folder for the logdirs")
    parser.add_argument("--commands", type=Path, help="folder of another tensorboard command")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        for first in range(0, len(options.kinds), 2):
            pair = options.kinds[first : first + 2]
            for one in watch(
                pair,
                folder / "-".join(pair),
                before_seconds=_BEFORE_SECONDS,
                after_seconds=_AFTER_SECONDS,
                commands=options.commands,
            ):
                print(describe(one), flush=True)
                for said in _changes(one):
                    print(f"    {said}")


def _changes(one: Watched) -> list[str]:
    """Each headline, with when it was first given."""
    assert one.changed is not None
    told: list[str] = []
    last = ""
    for at, report in one.answers:
        start = report["headline"].split(" lost ")[-1]
        if start != last:
            told.append(f"{at - one.changed:+.0f} s: {report['headline']}")
        last = start
    return told


if __name__ == "__main__":
    main()
