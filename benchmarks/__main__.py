"""All figures by one command, in one table: `python -m benchmarks`.

    python -m benchmarks                        all, about 25 minutes, the report to a million
    python -m benchmarks --only steps report    some of them
    python -m benchmarks --most 10000000        the report up to ten million steps
    python -m benchmarks --write                into docs/benchmarks.md, too
    python -m benchmarks --history figures.jsonl   into that file, too, and what differs from its
                                                   last run

Whatever is compared takes turns in one process, so that what disturbs one disturbs the others;
figures are medians, and their ratio is that of the same run.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from benchmarks import (
    costs,
    history,
    import_cost,
    many,
    report_size,
    routes,
    seen_in_tensorboard,
)
from benchmarks.row import Row, table

DOCUMENT: Final = Path(__file__).parent.parent / "docs/benchmarks.md"
BEGIN: Final = "<!-- made by python -m benchmarks: begin -->"
END: Final = "<!-- end -->"


def main() -> int:
    """Prints the table; 1 where a promise is not kept."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--most", type=int, default=1_000_000, help="steps of the longest report")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    parser.add_argument("--history", type=Path, help="JSON lines: a run each, this one at the end")
    parts: dict[str, Callable[[], list[Row]]] = {
        "steps": costs.measure_steps,
        "overhead": costs.measure_overhead,
        "bytes": costs.measure_bytes,
        "flush": costs.measure_flush,
        "start": import_cost.measure,
        "report": lambda: report_size.measure(chosen.most),
        "tensorboard": seen_in_tensorboard.measure,
        "routes": routes.measure,
        "many": many.measure,
    }
    parser.add_argument("--only", nargs="+", choices=list(parts), default=list(parts))
    chosen = parser.parse_args()
    rows: list[Row] = []
    for name in chosen.only:
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows += parts[name]()
    machine = (
        f"Made on {datetime.datetime.now(datetime.timezone.utc).date()} with Python "
        f"{platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[1]:.0f} "
        "(five-minute average)."
    )
    text = f"{machine}\n\n{table(rows)}"
    print(text)
    if chosen.history is not None:
        earlier = history.read(chosen.history)
        history.append(chosen.history, rows, about_run())
        for line in (
            history.differences(earlier[-1], history.read(chosen.history)[-1]) if earlier else ()
        ):
            print(line)
    if chosen.write:
        page = DOCUMENT.read_text(encoding="utf-8")
        head, _, rest = page.partition(BEGIN)
        _, _, tail = rest.partition(END)
        DOCUMENT.write_text(f"{head}{BEGIN}\n{text}\n{END}{tail}", encoding="utf-8")
    return 1 if any(row.kept is False for row in rows) else 0


def about_run() -> dict[str, str | float]:
    """When, of what, and beside what load the figures were made."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=DOCUMENT.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return {
        "made": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": commit.stdout.strip(),
        "python": platform.python_version(),
        "cores": float(os.cpu_count() or 0),
        "load": round(os.getloadavg()[1], 1),
    }


if __name__ == "__main__":
    sys.exit(main())
