"""A run whose names change with each step, by mistake or by malice, stays small."""

from __future__ import annotations

from dataclasses import replace

import event_files
import numpy as np
import pytest

from tb_slowdown_plugin.reader.build.session_builder import MOST_NAMES, SessionBuilder
from tb_slowdown_plugin.records.types import Chunk, SignalTable, no_signals

ROWS = 5


def chunk(index: int, **columns) -> Chunk:
    steps = replace(event_files.make_steps(ROWS), **columns.get("steps", {}))
    signals = columns.get("signals", no_signals())
    return Chunk("0123abcd", index, event_files.STARTED, index * ROWS, steps, signals)


def test_seconds_of_ever_new_accounts_go_to_one_and_none_is_lost() -> None:
    strand = SessionBuilder("0123abcd")
    for index in range(MOST_NAMES):
        accounts = {f"phase:{index}-{n}": np.full(ROWS, 0.001) for n in range(3)}
        strand.append(chunk(index, steps={"accounts": {**accounts, "gc": np.full(ROWS, 0.5)}}))
    accounts = strand.steps().accounts
    assert len(accounts) <= MOST_NAMES + 1
    assert accounts["gc"].sum() == 0.5 * ROWS * MOST_NAMES
    total = sum(seconds.sum() for name, seconds in accounts.items() if name != "gc")
    assert total == pytest.approx(0.001 * 3 * ROWS * MOST_NAMES)
    assert accounts["phase:others"].sum() > 0.0


def test_ever_new_kinds_become_one() -> None:
    strand = SessionBuilder("0123abcd")
    for index in range(2 * MOST_NAMES):
        kinds = {"kinds": (f"kind{index}",), "kind": np.zeros(ROWS, np.int64)}
        strand.append(chunk(index, steps=kinds))
    steps = strand.steps()
    assert len(steps.kinds) == MOST_NAMES + 1
    assert steps.kinds[steps.kind[0]] == "kind0"
    assert steps.kinds[steps.kind[-1]] == "others"


def test_of_ever_new_signals_the_first_are_kept() -> None:
    strand = SessionBuilder("0123abcd")
    for index in range(2 * MOST_NAMES):
        values = {"rss_bytes": np.ones(1), f"made_up{index}": np.ones(1)}
        table = SignalTable(np.array([event_files.STARTED]), np.array([index * ROWS]), values)
        strand.append(chunk(index, signals=table))
    values = strand.signals().values
    assert len(values) == MOST_NAMES
    assert values["rss_bytes"].sum() == 2 * MOST_NAMES
