"""Pressure of the machine, by the kernel's files."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.system.pressure import Pressure, stalled_seconds

TEXT = "some avg10=0.00 avg60=0.00 avg300=0.05 total={}\nfull avg10=0.00 total=99\n"


def write(root, **totals):
    folder = root / "proc" / "pressure"
    folder.mkdir(parents=True, exist_ok=True)
    for name, total in totals.items():
        (folder / name).write_text(TEXT.format(total))


def test_seconds_of_each_resource_count_up(tmp_path, recording) -> None:
    write(tmp_path, cpu=1_500_000, io=250_000, memory=0)
    collector = Pressure(tmp_path)
    collector.start(recording.context)
    assert collector.read() == {
        "cpu_pressure_seconds": 1.5, "io_pressure_seconds": 0.25, "memory_pressure_seconds": 0.0,
    }  # fmt: skip
    write(tmp_path, io=1_250_000)
    assert collector.read()["io_pressure_seconds"] == 1.25
    collector.stop()


def test_a_resource_that_the_kernel_does_not_tell_is_left_out(tmp_path, recording) -> None:
    write(tmp_path, io=1_000_000)
    collector = Pressure(tmp_path)
    collector.start(recording.context)
    assert collector.read() == {"io_pressure_seconds": 1.0}
    collector.stop()


def test_a_kernel_without_pressure_is_named(tmp_path, recording) -> None:
    with pytest.raises(Unavailable, match=r"this kernel doesn't report pressure"):
        Pressure(tmp_path).start(recording.context)


def test_the_line_of_some_tasks_counts() -> None:
    assert stalled_seconds(TEXT.format(11_471_368)) == 11.471368
