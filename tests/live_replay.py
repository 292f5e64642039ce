"""A recording as it grew: its records are appended one by one, and each prefix is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tb_slowdown_plugin.analysis.live.follow import follow
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.reader.build.record_batch import Record
from tb_slowdown_plugin.reader.build.run_builder import RunBuilder
from tb_slowdown_plugin.reader.event_files import find_event_files, read_records
from tb_slowdown_plugin.records.decoding import (
    decode_together,
    open_record,
)
from tb_slowdown_plugin.records.run import Run


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What is said of a run when one more record can be read."""

    run: Run
    live: Report
    """To who looks at it while it grows."""
    finished: Report
    """As if it had ended here."""

    @property
    def until(self) -> float:
        """Unix seconds at which the last step ended: about when the record was written."""
        return float(self.run.steps.ended[-1])


def replay(folder: Path) -> list[Snapshot]:
    """Looks at the run in a folder after each of its records."""
    watch = None
    snapshots = []
    for run in prefixes(folder):
        account, watch = follow(run, watch)
        snapshots.append(Snapshot(run, account.report, account_for(run).report))
    return snapshots


def prefixes(folder: Path) -> Iterator[Run]:
    """The run in a folder, record by record, in the order in which they were written."""
    damaged: list[object] = []
    read: list[int] = []
    records: list[tuple[float, Record]] = []
    for file in find_event_files(folder, damaged.append):
        written = 0.0
        for record in read_records(file, damaged.append, read.append):
            steps = decode_together([open_record(record.payload)]).steps
            written = float(steps.ended[-1]) if len(steps) else written
            records.append((written, record))
    assert records
    assert not damaged
    assembly = RunBuilder(folder.name)
    for _, record in sorted(records, key=lambda timed: timed[0]):
        assembly.add([record])
        yield assembly.run()
