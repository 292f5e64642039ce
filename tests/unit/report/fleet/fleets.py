"""Rows of a small fleet, with figures that can be added up by heart."""

from __future__ import annotations

from datetime import date, datetime, timezone
from typing import Any

from tb_slowdown_plugin._version import __version__
from tb_slowdown_plugin.report.fleet.tables import FleetTables, join_tables, make_tables, name_teams

HOUR = 3600.0


def run(name: str, hours: float, lost: float, **more: Any) -> dict[str, Any]:
    each = more.get("accelerators")
    return {
        "logdir": "logs",
        "run": name,
        "folder": name,
        "version": f"v-{name}",
        "tbslow": __version__,
        "status": "judged",
        "verdict": "slowdown" if lost else "healthy",
        "wall_seconds": hours * HOUR,
        "lost_seconds": lost * HOUR,
        "lost_fraction": lost / hours,
        "accelerator_seconds": None if each is None else hours * HOUR * each,
        "lost_accelerator_seconds": None if each is None else lost * HOUR * each,
        "started": datetime(2026, 11, 3, tzinfo=timezone.utc),
        "week": date(2026, 11, 2),
        **more,
    }


def cause(name: str, rank: int, id_: str, lost: float, **more: Any) -> dict[str, Any]:
    row = {"logdir": "logs", "run": name, "rank": rank, "cause": id_, "lost_seconds": lost * HOUR}
    return row | more


def small_fleet() -> FleetTables:
    place = {"file": "train.py", "line": 41, "function": "train_step"}
    runs = [
        run("nlp/b", 10, 4, program="train.py", accelerators=8),
        run("nlp/a", 20, 2, program="train.py", accelerators=0),
        run("vision/c", 30, 0, program="other.py", week=date(2026, 11, 9)),
        {"logdir": "logs", "run": "vision/d", "folder": "vision/d", "version": "v-vision/d",
         "tbslow": __version__, "status": "unreadable", "reason": "it is <damaged>"},
        {"logdir": "logs", "run": "e", "folder": "e", "version": "v-e", "tbslow": __version__,
         "status": "no_data"},
    ]  # fmt: skip
    causes = [
        cause("nlp/b", 2, "unexplained", 1),
        cause("nlp/b", 1, "retracing", 3, lost_accelerator_seconds=24 * HOUR, **place),
        cause("nlp/a", 1, "retracing", 1.0, **place),
        cause("nlp/a", 3, "retracing", 0.5, **place),  # another reason, at the same line
        cause("nlp/a", 2, "input_pipeline", 0.5, **place | {"line": 50, "function": None}),
    ]
    return name_teams(join_tables([make_tables(runs, causes)]), None)
