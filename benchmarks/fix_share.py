"""For how many programs with one defect `tbslow fix` has a patch, and for how many an example.

    python -m benchmarks.fix_share [RECORDINGS]

RECORDINGS holds one folder for each program of `tests/programs`, with its records and `truth.json`.
They must be of the programs as they are: a run has the hashes of the lines that ran. Without it,
the programs are recorded first (`scripts/record_programs`, about 15 minutes).

"For another cause" counts programs with advice against a cause that they don't have. Warm-up isn't
counted, which each program has, and neither is what other processes took.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.accuracy.real import HEALTHY, RECORDINGS, read_outcome
from tb_slowdown_plugin.report.patches.finder import find_fixes

ROOT: Final = Path(__file__).parents[1]
PROGRAMS: Final = ROOT / "tests" / "programs"
ALSO_THERE: Final = frozenset({"warm_up", "cpu_contention"})


@dataclass(frozen=True, slots=True)
class Advised:
    """What one program is advised."""

    program: str
    cause: str
    patches: tuple[str, ...]
    """Against its cause."""
    example: str
    """The first one, "" where there are patches, or nothing."""
    others: tuple[str, ...]
    """Other causes with advice."""


def find_advised(recordings: Path, programs: Path = PROGRAMS) -> Iterator[Advised]:
    """What each recorded program with a defect is advised."""
    for truth in sorted(recordings.glob("*/truth.json")):
        outcome = read_outcome(truth.parent)
        if outcome.cause == HEALTHY:
            continue
        fixes = find_fixes(outcome.run, outcome.report, programs)
        own = [fix for fix in fixes if fix.cause.cause == outcome.cause]
        yield Advised(
            outcome.program,
            outcome.cause,
            tuple(f"{patch.source.name}:{patch.line}" for fix in own for patch in fix.patches),
            next((fix.example.text for fix in own if fix.example is not None), ""),
            tuple(
                fix.cause.cause
                for fix in fixes
                if fix.cause.cause not in {outcome.cause, *ALSO_THERE}
                and (fix.patches or fix.example)
            ),
        )


def describe(advised: Sequence[Advised]) -> str:
    """The table and the shares."""
    rows = [
        f"{each.program:<28} {', '.join(each.patches) or each.example[:40] or 'nothing':<42} "
        f"{', '.join(each.others)}".rstrip()
        for each in advised
    ]
    patched = sum(bool(each.patches) for each in advised)
    shown = sum(bool(each.example) for each in advised)
    others = sum(bool(each.others) for each in advised)
    rows.append(
        f"{len(advised)} programs: {patched} have a patch, {shown} an example, "
        f"{len(advised) - patched - shown} neither; {others} have advice for another cause"
    )
    return "\n".join(rows)


def main() -> int:
    """Prints what each program is advised, and the shares."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("recordings", nargs="?", type=Path)
    chosen = parser.parse_args()
    if chosen.recordings:
        print(describe(list(find_advised(chosen.recordings))))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        names = sorted(
            path.name for path in RECORDINGS.iterdir() if not path.name.endswith("_healthy")
        )
        environment = {**os.environ, "RECORDINGS": folder, "PYTHON": sys.executable}
        command = [str(ROOT / "scripts" / "record_programs"), *names]
        subprocess.run(command, env=environment, check=True, stdout=sys.stderr)
        print(describe(list(find_advised(Path(folder)))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
