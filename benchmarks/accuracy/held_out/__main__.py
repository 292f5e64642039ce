"""Records the held-out programs, each with and without its defect, and judges them."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.accuracy.real import describe_outcome, sum_up
from benchmarks.accuracy.recording import ProgramFailed, record


def main() -> None:
    """Prints a row for each recording, and what they come to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy.held_out")
    parser.add_argument("--keep", type=Path, help="leave the recordings in this directory")
    parser.add_argument("names", nargs="*", metavar="NAME", help="record only these programs")
    options = parser.parse_args()
    found = {each.stem: each for each in sorted(Path(__file__).parent.glob("[!_]*.py"))}
    if unknown := set(options.names) - found.keys():
        parser.error(f"no program {', '.join(sorted(unknown))}; there are {', '.join(found)}")
    programs = [found[name] for name in options.names or found]
    outcomes = []
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.keep or Path(temporary)
        for number, program in enumerate(programs):
            for healthy in (False, True):
                name = program.stem + ("_healthy" if healthy else "")
                print(f"[{2 * number + healthy + 1} of {2 * len(programs)}] ", end="", flush=True)
                try:
                    outcomes.append(record(program, directory / name, healthy=healthy))
                except ProgramFailed as error:
                    print(f"{name} failed: {error}", flush=True)
                    continue
                print(describe_outcome(outcomes[-1]), flush=True)
    for line in sum_up(outcomes):
        print(line)


if __name__ == "__main__":
    main()
