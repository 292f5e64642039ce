"""Recorded captures, cut and with bits flipped: a refusal or bounded, finite numbers."""

from __future__ import annotations

import random
import time
from pathlib import Path

import numpy as np
import pytest
from unit.profiler.real_captures import DAMAGED, MI300, V100, unpack

from tb_slowdown_plugin.profiler.read import read_trace
from tb_slowdown_plugin.profiler.shares import device_shares
from tb_slowdown_plugin.profiler.steps import nothing_recorded
from tb_slowdown_plugin.profiler.summary import summary
from tb_slowdown_plugin.profiler.types import CaptureTrace
from tb_slowdown_plugin.profiler.xplane.space import UnreadableError

MOST_SECONDS = 10.0
"""Of CPU time for one file; each takes below 1 s."""


def read(path: Path, data: bytes) -> CaptureTrace | None:
    """The trace, None where it is refused; in either case within bounds."""
    path.write_bytes(data)
    began = time.process_time()
    try:
        trace = read_trace(path, nothing_recorded())
    except UnreadableError:
        return None
    finally:
        assert time.process_time() - began < MOST_SECONDS
    total = sum(trace.parts.values())
    assert np.all(np.isfinite(total))
    assert np.all(trace.cell_seconds >= 0.0)
    for share in device_shares(trace):
        busy = share.computes_seconds + share.communicates_seconds + share.copies_seconds
        assert -1e-6 <= busy <= share.seconds * (1 + 1e-6) + 1e-6
    assert summary("file", trace)["steps"] == len(trace.steps)
    return trace


@pytest.mark.parametrize(("name", "places"), [(V100, 6), (MI300, 30), (DAMAGED, 6)])
def test_a_recorded_capture_that_was_cut(tmp_path: Path, name: str, places: int) -> None:
    """Where it is not refused, a note says that it is not whole."""
    data = unpack(name)
    chance = random.Random(17)
    for _ in range(places):
        keep = chance.randrange(8, len(data))
        trace = read(tmp_path / "vm.xplane.pb", data[:keep])
        assert trace is None or trace.notes, keep


@pytest.mark.parametrize(
    ("name", "seeds", "flips"),
    [(V100, 4, 300), (MI300, 25, 5), (MI300, 25, 300), (DAMAGED, 4, 300)],
)
def test_a_recorded_capture_with_flipped_bits(
    tmp_path: Path, name: str, seeds: int, flips: int
) -> None:
    whole = unpack(name)
    for seed in range(seeds):
        chance = random.Random(seed)
        data = bytearray(whole)
        for _ in range(flips):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        read(tmp_path / "vm.xplane.pb", bytes(data))


def test_a_flipped_bit_early_in_the_file(tmp_path: Path) -> None:
    """Sizes and tags of the outermost messages stand there."""
    whole = unpack(MI300)
    for bit in range(0, 8 * 24, 9):
        data = bytearray(whole)
        data[bit // 8] ^= 1 << (bit % 8)
        read(tmp_path / "vm.xplane.pb", bytes(data))
