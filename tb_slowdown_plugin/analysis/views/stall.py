"""The stall that a run is in, for its report."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.prepare.run_stalls import open_stall
from tb_slowdown_plugin.analysis.report_types.live import Stall
from tb_slowdown_plugin.analysis.text.stall_text import describe_meanwhile, describe_open
from tb_slowdown_plugin.records.run import Run


def find_stall(run: Run) -> Stall | None:
    """Describes the stall at the end of a run; None where steps end."""
    seen = open_stall(run)
    if seen is None:
        return None
    place = seen.places[-1]
    sentence = describe_open(
        seen.since,
        seen.seconds,
        place,
        account=seen.account,
        others=seen.others,
        threads=seen.threads,
        cpu_cores=seen.cpu_seconds / seen.looked_seconds if seen.looked_seconds > 0 else 0.0,
    )
    meanwhile = describe_meanwhile(seen.looked_seconds, seen.cpu_seconds, seen.meanwhile)
    text = f"{sentence} {meanwhile}".rstrip()
    return Stall(
        seen.since, seen.seconds, place, seen.account, dict(seen.others), seen.threads, text
    )
