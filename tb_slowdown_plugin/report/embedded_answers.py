"""A run's answers as JSON for a page without a server, at several sizes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from tb_slowdown_plugin.analysis.compare.comparison import compare
from tb_slowdown_plugin.analysis.compare.run_ledger import RunLedger, ledger_of
from tb_slowdown_plugin.analysis.report_types.plain_values import without_nan
from tb_slowdown_plugin.analysis.report_types.report import RunAccount
from tb_slowdown_plugin.analysis.text.wording import counted
from tb_slowdown_plugin.analysis.views.retraces_view import retraces
from tb_slowdown_plugin.analysis.views.timeline import timeline
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.reader.extent import extent_of
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.report.json_body import comparison_body, report_body

GRADES: Final = (12_800, 6_400, 3_200, 1_600, 800, 400, 160)
"""Buckets of the finest timeline of a whole run, by how much room there is."""
_COARSER: Final = 4
"""How many buckets of a tile make one of the next: zooming looks for the nearest."""
_FEWEST: Final = 400
"""Buckets of the coarsest tile where there is a finer one; about a third of the pixels."""
_SIGNAL_SHARE: Final = 8
"""A signal has so many times fewer points than the finest timeline has buckets."""

_MOST_COMPARED: Final = 8
"""Runs of which each pair is compared: 56 comparisons of about 2 KB."""


@dataclass(frozen=True, slots=True)
class EmbeddedRun:
    """One run, packed."""

    name: str
    listed: dict[str, Any]
    """Its entry in the list of runs, as the route `runs` has it."""
    versions: dict[str, str]
    ledger: RunLedger | None
    """For comparisons; None without a step."""
    grades: tuple[str, ...]
    """JSON of everything else, one text for each of `GRADES`, the largest first."""

    @property
    def title(self) -> str:
        """What a person calls it."""
        return str(self.listed["title"])


def embed(run: Run, account: RunAccount, *, title: str = "") -> EmbeddedRun:
    """Packs a run; the arrays behind it are not needed any more afterwards.

    Args:
      run: The run.
      account: Where its time went.
      title: What a person calls it, where that is not its name.
    """
    steps = run.steps
    begun = max((session.started for session in run.sessions), default=None)
    listed = {
        "run": run.name,
        "title": title or run.name,
        **asdict(extent_of(run)),
        "reported": float(steps.ended[-1]) if len(steps) else begun,
        "live": False,
        "source": account.report.source,
    }
    fixed = {"report": report_body([account.report]), "retraces": retraces(run)}
    grades = []
    for buckets in GRADES:
        if buckets > max(len(steps), GRADES[-1]) and buckets // 2 > len(steps):
            grades.append("")  # the next one holds every step already
            continue
        body = {
            **fixed,
            "tiles": [
                {key: value for key, value in tile.items() if key != "signals"}
                for tile in _tiles(run, account, buckets)
            ],
            "signals": _body(run, account, len(steps), buckets // _SIGNAL_SHARE)["signals"],
        }
        grades.append(to_json(body))
    return EmbeddedRun(
        run.name,
        without_nan(listed),
        dict(run.environment.versions),
        ledger_of(run, account) if len(steps) else None,
        tuple(
            text or next(later for later in grades[i:] if later) for i, text in enumerate(grades)
        ),
    )


def fit(runs: Sequence[EmbeddedRun], room: int) -> str:
    """The data of a page as JSON, as fine as fits into `room` bytes.

    Raises:
      InputError: The runs do not fit however coarse their timelines are.
    """
    listed = to_json({"runs": [run.listed for run in runs], "other_runs": 0})
    compared = to_json(_comparisons(runs))
    least = 0
    for grade in range(len(GRADES)):
        of = ",".join(f"{to_json(run.name)}:{run.grades[grade]}" for run in runs)
        text = f'{{"runs":{listed},"comparisons":{compared},"of":{{{of}}}}}'
        least = len(text.encode())
        if least <= room:
            return text
    raise InputError(
        f"{counted(len(runs), 'run')} take {least / 1e6:.1f} MB, and a page has room for "
        f"{room / 1e6:.1f} MB; choose one with --run"
    )


def _comparisons(runs: Sequence[EmbeddedRun]) -> dict[str, dict[str, Any]]:
    """Base -> other run -> what differs, of each pair."""
    if len(runs) > _MOST_COMPARED:
        return {}
    ledgers = [run.ledger for run in runs if run.ledger is not None]
    return {
        base.run: {
            other.run: comparison_body(compare([base], [other]))
            for other in ledgers
            if other is not base
        }
        for base in ledgers
    }


def to_json(value: Any) -> str:
    """Compact JSON in which nothing can end the element that it stands in."""
    text = json.dumps(without_nan(value), allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _tiles(run: Run, account: RunAccount, finest: int) -> Iterator[dict[str, Any]]:
    """The whole run at several resolutions, and its beginning row by row."""
    rows = len(run.steps)
    buckets = finest
    while True:
        tile = _body(run, account, rows, buckets)
        yield tile
        if buckets // _COARSER < _FEWEST or len(tile["row"]) <= _FEWEST:
            break
        buckets //= _COARSER
    if rows > finest:
        yield _body(run, account, finest // _COARSER, finest)


def _body(run: Run, account: RunAccount, rows: int, buckets: int) -> dict[str, Any]:
    return timeline(run, account, 0, max(rows - 1, 0), max(buckets, 1))
