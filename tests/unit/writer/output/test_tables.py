"""What the training thread appended becomes tables: periods, CPU time, accounts, samples."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.writer.output.tables import Edge, build_signals, build_steps
from tb_slowdown_plugin.writer.steps.step_buffer import Opening, Sample

S = 10**9


def row(number, begun, ended, *, cpu=None, items=None, kind="train", accounts=None):
    process, thread = (None, None) if cpu is None else cpu
    return (number, number, begun, ended, process, thread, items, kind, accounts, 0, 0, 0)


def test_a_period_goes_from_the_end_of_the_step_before() -> None:
    entries = [Opening(10 * S, None, None), row(0, 11 * S, 12 * S), row(1, 13 * S, 15 * S)]
    edge = Edge()
    table, begun = build_steps(entries, edge, unix_offset_seconds=100.0)
    assert table.period_seconds.tolist() == [2.0, 3.0]
    assert table.inside_seconds.tolist() == [1.0, 2.0]
    assert table.ended.tolist() == [112.0, 115.0]
    assert (begun, edge.at_ns) == (110.0, 15 * S)
    table, begun = build_steps([row(2, 15 * S, 16 * S)], edge, 100.0)
    assert (table.period_seconds.tolist(), begun) == ([1.0], 115.0)


def test_a_gap_that_is_no_training_is_left_out() -> None:
    entries = [row(0, 0, 1 * S), Opening(90 * S, None, None), row(1, 90 * S, 91 * S)]
    table, _ = build_steps(entries, Edge(), 0.0)
    assert table.period_seconds.tolist() == [1.0, 1.0]


def test_cpu_time_between_two_readings_is_spread_by_the_periods() -> None:
    entries = [
        Opening(0, 0, 0), row(0, 0, 1 * S), row(1, 1 * S, 4 * S, cpu=(8 * S, 2 * S)),
        row(2, 4 * S, 5 * S),
    ]  # fmt: skip
    table, _ = build_steps(entries, Edge(), 0.0)
    assert table.process_cpu_seconds[:2].tolist() == [2.0, 6.0]
    assert table.thread_cpu_seconds[:2].tolist() == [0.5, 1.5]
    assert np.isnan(table.process_cpu_seconds[2])


def test_accounts_items_and_kinds_have_a_column_each() -> None:
    entries = [
        row(0, 0, S, items=32.0, accounts=S // 2),
        row(1, S, 2 * S, kind="eval", accounts={"gc": S // 4, "input_wait": S // 8}),
        row(2, 2 * S, 3 * S),
    ]
    table, _ = build_steps(entries, Edge(), 0.0)
    assert table.accounts["input_wait"].tolist() == [0.5, 0.125, 0.0]
    assert table.accounts["gc"].tolist() == [0.0, 0.25, 0.0]
    assert (table.kinds, table.kind.tolist()) == (("train", "eval"), [0, 1, 0])
    assert table.items[0] == 32.0
    assert np.isnan(table.items[1])


def test_no_steps_move_the_edge_alone() -> None:
    edge = Edge()
    table, begun = build_steps([Opening(7 * S, None, None)], edge, 1.0)
    assert (len(table), begun, edge.at_ns) == (0, 8.0, 7 * S)


def test_a_signal_that_was_not_read_is_unknown() -> None:
    table = build_signals([Sample(1.0, 0, {"a": 1.0}), Sample(2.0, 5, {"a": 2.0, "b": 3.0})])
    assert table.row.tolist() == [0, 5]
    assert table.values["a"].tolist() == [1.0, 2.0]
    assert np.isnan(table.values["b"][0])
    assert table.values["b"][1] == pytest.approx(3.0)
    assert len(build_signals([])) == 0
