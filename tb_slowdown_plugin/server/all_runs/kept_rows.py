"""Verdicts in a file of the cache directory, so that a second start need not judge again."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from tb_slowdown_plugin._version import __version__
from tb_slowdown_plugin.reader.whole_files import replace_file
from tb_slowdown_plugin.report.run_digest import RunDigest

_SCHEMA: Final = 1


class KeptRows:
    """The digests of one logdir in one file; nothing is written beside the user's own data.

    Args:
      directory: Of the cache; made if it isn't there.
      logdir: What the runs are of.
    """

    def __init__(self, directory: Path, logdir: str) -> None:
        name = hashlib.sha256(os.path.realpath(logdir).encode()).hexdigest()[:32]
        self._path = directory / f"tbslow-verdicts-{name}.json"
        self._made = f"{_SCHEMA} {__version__}"

    def read(self) -> dict[str, tuple[str, RunDigest]]:
        """Run -> the version that was judged, and its digest; empty if there is nothing."""
        try:
            body = json.loads(self._path.read_text(encoding="utf-8"))
            if body["made"] != self._made:
                return {}
            return {run: (row["version"], _digest(row)) for run, row in body["runs"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    def write(self, rows: Mapping[str, tuple[str, RunDigest]]) -> None:
        """Replaces the file; a full disk or a read-only directory only costs the second start."""
        runs = {run: {"version": version, **asdict(row)} for run, (version, row) in rows.items()}
        text = json.dumps({"made": self._made, "runs": runs}, separators=(",", ":"))
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(self._path, text.encode())


def _digest(row: Mapping[str, Any]) -> RunDigest:
    fields = {key: value for key, value in row.items() if key != "version"}
    return RunDigest(
        **{**fields, "causes": tuple(fields["causes"]), "spark": tuple(fields["spark"])}
    )
