"""However long a run gets, what is kept of it stays within its bounds, and its sums stay exact."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from event_files import STARTED, make_steps, split
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.reader.build.record_batch import Record
from tb_slowdown_plugin.reader.build.run_builder import Bounds, RunBuilder
from tb_slowdown_plugin.records.codec import encode
from tb_slowdown_plugin.records.metadata import tag
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Chunk, Event, GcPause, SignalTable, StepTable

ACCOUNTS = ("gc", "input_wait")
ROOMY = 1 << 30


def session(count: int, name: str, seed: int, cuts: list[int]) -> list[Chunk]:
    random = np.random.default_rng(seed)
    steps = make_steps(count, seed=seed)
    for account in ACCOUNTS:
        seconds = np.rint(random.random(count) * 1e4) / 1e6
        steps.accounts[account] = seconds  # type: ignore[index]
    rows = np.arange(0, count, 3)
    signals = SignalTable(
        steps.ended[rows], rows, {"rss_bytes": random.random(len(rows)).round(6) * 1e9}
    )
    events = [Event(row, float(steps.ended[row]), GcPause(2, 0.1, 1)) for row in range(0, count, 2)]
    started = STARTED + seed * 1e5
    steps = replace(steps, ended=steps.ended + seed * 1e5)
    inner = sorted({cut for cut in cuts if 0 < cut < count})
    return split(steps, session=name, started=started, cuts=inner, signals=signals, events=events)


def kept(sessions: list[list[Chunk]], bounds: Bounds | None, piece: int = 1) -> Run:
    assembly = RunBuilder("run1", bounds)
    for chunks in sessions:
        records = [
            Record("run1/slowdown", tag(c.session, c.sequence), c.sequence, encode(c))
            for c in chunks
        ]
        for start in range(0, len(records), piece):
            assembly.add(records[start : start + piece])
            assembly.run()
    return assembly.run()


def grouped(steps: StepTable, width: int) -> StepTable:
    """Each `width` steps as one, the rest left out: told anew, to compare with."""
    groups = len(steps) // width

    def blocks(column: np.ndarray) -> np.ndarray:
        return column[: groups * width].reshape(groups, width)

    return replace(
        steps,
        number=blocks(steps.number)[:, 0],
        ended=blocks(steps.ended)[:, -1],
        kind=blocks(steps.kind)[:, 0],
        period_seconds=blocks(steps.period_seconds).sum(axis=1),
        inside_seconds=blocks(steps.inside_seconds).sum(axis=1),
        process_cpu_seconds=blocks(steps.process_cpu_seconds).sum(axis=1),
        thread_cpu_seconds=blocks(steps.thread_cpu_seconds).sum(axis=1),
        items=blocks(steps.items).sum(axis=1),
        accounts={name: blocks(column).sum(axis=1) for name, column in steps.accounts.items()},
    )


@settings(deadline=None)
@given(
    count=st.integers(1, 300),
    most=st.integers(8, 100),
    cuts=st.lists(st.integers(1, 299), max_size=20),
    seed=st.integers(0, 5),
)
def test_rows_beyond_the_bound_are_summed_in_groups(
    count: int, most: int, cuts: list[int], seed: int
) -> None:
    chunks = session(count, "aaaa", seed, cuts)
    every, run = kept([chunks], None), kept([chunks], Bounds(most, ROOMY, ROOMY))
    width = run.steps_per_row
    assert width & (width - 1) == 0
    assert len(run.steps) <= most
    if count > most:
        assert len(run.steps) > (most // 2) - 1
    if not len(run.steps):
        return
    expected = grouped(every.steps, width) if count >= width else every.steps
    np.testing.assert_array_equal(run.steps.number, expected.number)
    np.testing.assert_array_equal(run.steps.ended, expected.ended)
    for name in ("period", "inside", "process_cpu", "thread_cpu"):
        found = getattr(run.steps, f"{name}_seconds")
        np.testing.assert_allclose(found, getattr(expected, f"{name}_seconds"), atol=1e-9)
    for name in ACCOUNTS:
        np.testing.assert_allclose(run.steps.accounts[name], expected.accounts[name], atol=1e-9)
    assert [event.row for event in run.events] == [event.row // width for event in every.events]
    np.testing.assert_array_equal(run.signals.row, every.signals.row // width)


@settings(deadline=None, max_examples=30)
@given(
    counts=st.lists(st.integers(1, 120), min_size=2, max_size=6),
    cuts=st.lists(st.integers(1, 119), max_size=5),
    most=st.integers(16, 64),
)
def test_no_second_of_a_run_with_many_sessions_is_lost(
    counts: list[int], cuts: list[int], most: int
) -> None:
    sessions = [session(n, f"{place:04x}", place, cuts) for place, n in enumerate(counts)]
    every, run = kept(sessions, None), kept(sessions, Bounds(most, ROOMY, ROOMY))
    # Each session may end with a row that is not full.
    assert len(run.steps) <= most + len(sessions)
    np.testing.assert_allclose(run.steps.period_seconds.sum(), every.steps.period_seconds.sum())
    for name in ACCOUNTS:
        np.testing.assert_allclose(run.steps.accounts[name].sum(), every.steps.accounts[name].sum())
    assert run.steps.ended[-1] == every.steps.ended[-1]
    assert all(0 <= event.row <= len(run.steps) for event in run.events)


@settings(deadline=None, max_examples=20)
@given(count=st.integers(50, 400), most=st.integers(5, 40))
def test_samples_beyond_the_bound_keep_their_peaks(count: int, most: int) -> None:
    chunks = session(count, "aaaa", 1, list(range(0, count, 7)))
    every, run = kept([chunks], None), kept([chunks], Bounds(ROOMY, most, ROOMY))
    assert run.steps_per_row == 1
    assert len(run.signals) <= most
    width = -(-len(every.signals) // max(len(run.signals), 1))
    values = every.signals.values["rss_bytes"]
    seen = run.signals.values["rss_bytes"]
    assert set(seen.tolist()) <= set(values.tolist())
    # Only what fills no group yet can be missing.
    assert seen.max() >= values[: len(values) - 2 * width].max(initial=0.0)
    assert (np.diff(run.signals.row) > 0).all()


def test_events_beyond_the_bound_are_counted() -> None:
    chunks = session(4000, "aaaa", 1, list(range(0, 4000, 100)))
    run = kept([chunks], Bounds(ROOMY, ROOMY, 400))
    rows = [event.row for event in run.events]
    assert len(rows) <= 400
    assert rows == sorted(rows)
    assert (rows[0], rows[-1]) == (0, 3998)
    (note,) = run.notes
    dropped = 2000 - len(rows)
    assert note.startswith(f"{dropped:,} events in the middle of the run")


def test_the_ledger_of_a_run_kept_in_groups_adds_up() -> None:
    """The engine takes a group of steps for a step: what it says is true of the groups."""
    steps = make_steps(8000, seconds=0.02, seed=3)
    steps.period_seconds[5000:] += 0.02
    steps.ended[:] = STARTED + np.cumsum(steps.period_seconds)
    run = kept([split(steps, chunk_rows=250)], Bounds(4000, ROOMY, ROOMY), piece=8)
    assert (run.steps_per_row, len(run.steps)) == (2, 4000)
    account = account_for(run)
    report = account.report
    assert report.wall_seconds == np.float64(steps.period_seconds.sum()).round(6)
    assert abs(report.lost_seconds - 60.0) < 6.0
    total = account.healthy_per_step + sum(account.lost_per_step.values())
    np.testing.assert_allclose(total, run.steps.period_seconds, atol=1e-9)
    assert any("each step shown is 2 of its steps" in note for note in report.notes)
