"""Bytes that a step writes: they must grow, and take as long as the steps have got longer."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.causes.saving.growing_writes import find_growing_writes

SIZE = 600
SAMPLED = np.arange(0, SIZE, 10)
GROWN = np.linspace(0.0, 0.010, SIZE)


@pytest.mark.parametrize(
    ("each", "found"),
    [
        (1e6 * np.linspace(1.0, 3.0, SIZE), True),
        (np.full(SIZE, 1e6), False),
        (1e4 * np.linspace(1.0, 3.0, SIZE), False),
    ],
    ids=["more and more", "as much as ever", "little"],
)
def test_bytes_must_grow_as_the_time_does(make_run, find, each, found):
    signals = {"disk_written_bytes": np.cumsum(each)[SAMPLED]}
    run = make_run(0.01 + GROWN, signals=signals, signal_rows=SAMPLED)
    case = Case(run, SimpleNamespace(warm_up_rows=0), (), ())
    writes = find_growing_writes(case, (find("core", "drift", GROWN),))
    assert (writes is not None) == found
    if writes:
        assert (writes.first, writes.last) == pytest.approx((1.3e6, 2.7e6), rel=0.05)
        assert writes.tell().startswith("Writes grow from 1.")
    assert find_growing_writes(case, ()) is None
