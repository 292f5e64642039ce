"""A logdir with a healthy run and a slow one, for what the commands say of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from event_files import make_steps, split, write_chunks


def write_healthy_and_slow(root: Path) -> Path:
    """`healthy`, and `slow`, which loses 5 s of 25 s to garbage collection."""
    healthy = make_steps(400, seconds=0.05)
    write_chunks(root / "healthy" / "slowdown", split(healthy))
    slow = make_steps(400, seconds=0.05)
    collecting = slow.number % 10 == 9
    slow.period_seconds[collecting] += 0.125
    slow.ended[:] = slow.ended[0] + slow.period_seconds.cumsum() - slow.period_seconds[0]
    slow = replace(slow, accounts={"gc": collecting * 0.125})
    write_chunks(root / "slow" / "slowdown", split(slow))
    return root
