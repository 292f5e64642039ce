"""Whatever a training loop does, its seconds add up: periods to the wall, accounts to periods."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.writer.output.tables import Edge, build_steps
from tb_slowdown_plugin.writer.steps.phases import Phase
from tb_slowdown_plugin.writer.steps.recorder import Recorder
from tb_slowdown_plugin.writer.steps.step_buffer import Opening


class Failed(Exception):
    """The user's own."""


class Loop:
    """A recorder on a clock that moves by what a plan says."""

    def __init__(self):
        self.now_ns = 10**15
        self.cpu_ns = 10**9
        self.recorder = Recorder(
            Clock(lambda: self.now_ns, lambda: self.cpu_ns, lambda: self.cpu_ns, lambda: 1.8e9)
        )

    def spend(self, milliseconds):
        self.now_ns += milliseconds * 10**6
        self.cpu_ns += milliseconds * 3 * 10**6  # three threads compute

    def run(self, plan):
        for name, milliseconds, inner in plan:
            with ExitStack() as around:
                if name.startswith("phase"):
                    around.enter_context(Phase(self.recorder, name))
                self.spend(milliseconds)
                self.run(inner)
                self.spend(milliseconds)

    def step(self, plan, *, fails):
        try:
            with self.recorder.prepare(None, None, "train"):
                self.run(plan)
                if fails:
                    raise Failed
        except Failed:
            pass


times = st.integers(0, 50)
plans = st.recursive(
    st.just([]),
    lambda inner: st.lists(
        st.tuples(st.sampled_from(("phase a", "phase b", "code")), times, inner), max_size=3
    ),
    max_leaves=8,
)
loops = st.lists(st.tuples(plans, plans, st.booleans()), min_size=1, max_size=8)


@given(loops)
@settings(max_examples=150, deadline=None)
def test_periods_add_up_to_the_wall_and_accounts_to_no_more_than_periods(plan):
    loop = Loop()
    loop.recorder.open_period()
    began_ns = loop.now_ns
    for between, inside, fails in plan:
        loop.run(between)
        loop.step(inside, fails=fails)
    loop.spend(50)
    loop.step([], fails=False)  # long enough for the CPU clocks to be read at its end
    table, _ = build_steps(loop.recorder.entries, Edge(), 0.0)
    assert len(table) == 1 + sum(not fails for _, _, fails in plan)
    assert round(table.period_seconds.sum() * 1e9) == loop.now_ns - began_ns
    assert np.allclose(table.process_cpu_seconds, 3 * table.period_seconds, rtol=1e-12, atol=0)
    assert np.allclose(table.thread_cpu_seconds, 3 * table.period_seconds, rtol=1e-12, atol=0)
    assert (table.inside_seconds <= table.period_seconds).all()
    booked = sum(table.accounts.values())
    assert (booked <= table.period_seconds + 1e-9).all()


@given(loops, st.integers(0, 12))
@settings(max_examples=100, deadline=None)
def test_cutting_the_entries_into_chunks_changes_no_step(plan, cut):
    loop = Loop()
    for between, inside, fails in plan:
        loop.run(between)
        loop.step(inside, fails=fails)
    entries = list(loop.recorder.entries)
    whole, _ = build_steps(entries, Edge(), 0.0)
    edge = Edge()
    parts = [build_steps(part, edge, 0.0)[0] for part in (entries[:cut], entries[cut:])]
    assert [s for part in parts for s in part.period_seconds] == whole.period_seconds.tolist()
    assert [n for part in parts for n in part.number] == whole.number.tolist()
    # Where the cut parts steps from the reading after them, their CPU time stays unknown.
    cpu = np.concatenate([part.process_cpu_seconds for part in parts])
    known = ~np.isnan(cpu)
    assert (cpu[known] == whole.process_cpu_seconds[known]).all()
    unread = [
        row
        for row, entry in enumerate(e for e in entries[:cut] if not isinstance(e, Opening))
        if entry[4] is None
    ]
    assert set(np.flatnonzero(~known & ~np.isnan(whole.process_cpu_seconds))) <= set(unread)
    assert isinstance(entries[0], Opening) or not len(whole)
