"""Figures of earlier runs of `python -m benchmarks`, a JSON line each, and what has changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from benchmarks.row import Row

_KEPT: Final = {True: "kept", False: "not kept", None: "can't tell"}


def append(path: Path, rows: Sequence[Row], about: Mapping[str, str | float]) -> None:
    """Adds a run to the file, which is made if it isn't there.

    Args:
      path: JSON lines.
      rows: What was measured.
      about: When, on what commit, beside which load; other runs are told apart by it.
    """
    line = json.dumps({**about, "rows": [asdict(row) for row in rows]}, ensure_ascii=False)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def read(path: Path) -> list[dict[str, Any]]:
    """The runs in the file, the oldest first; none where there is no file."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """What is measured otherwise than before, a line each; what only one has measured, too."""
    old, new = ({row["what"]: row for row in run["rows"] if row["what"]} for run in (before, after))
    for what in dict.fromkeys((*old, *new)):
        if what not in new:
            continue  # only a part was measured this time
        if what not in old:
            yield f"{what}: {new[what]['figure']} (new)"
        elif old[what]["figure"] != new[what]["figure"]:
            kept = [_KEPT[row["kept"]] for row in (old[what], new[what])]
            changed = f" ({' -> '.join(kept)})" if kept[0] != kept[1] else ""
            yield f"{what}: {old[what]['figure']} -> {new[what]['figure']}{changed}"
