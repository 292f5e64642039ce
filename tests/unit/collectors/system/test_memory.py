"""RSS, faults and switches, against the kernel's own numbers."""

import mmap
import resource
import sys

import pytest

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.system import memory as process_memory
from tb_slowdown_plugin.collectors.system.memory import ProcessMemory, resident_bytes

SIGNALS = {
    "rss_bytes",
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
}

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is Linux's")


@linux
def test_touching_memory_shows_in_rss_and_in_the_faults(recording):
    collector = ProcessMemory()
    collector.start(recording.context)
    before = collector.read()
    pages = 4_000
    with mmap.mmap(-1, pages * mmap.PAGESIZE) as memory:
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        for page in range(pages):
            memory[page * mmap.PAGESIZE] = 1
        after = collector.read()
    collector.stop()
    assert set(before) == SIGNALS
    assert after["rss_bytes"] - before["rss_bytes"] >= 0.9 * pages * mmap.PAGESIZE
    assert after["minor_faults"] - before["minor_faults"] >= 0.9 * pages


@linux
def test_the_numbers_are_those_of_this_process(recording):
    collector = ProcessMemory()
    collector.start(recording.context)
    values = collector.read()
    collector.stop()
    usage = resource.getrusage(resource.RUSAGE_SELF)
    assert 0 < values["rss_bytes"] <= usage.ru_maxrss * 1024
    assert 0 < values["minor_faults"] <= usage.ru_minflt
    assert 0 <= values["major_faults"] <= usage.ru_majflt


def test_rss_is_the_second_field_in_pages():
    assert resident_bytes(b"100 25 3 1 0 2 0\n", page_bytes=16_384) == 25 * 16_384


def test_another_platform_is_named_as_the_reason(recording, monkeypatch):
    monkeypatch.setattr(process_memory.sys, "platform", "darwin")
    with pytest.raises(Unavailable, match="this is darwin"):
        ProcessMemory().start(recording.context)


@linux
def test_a_missing_proc_is_named_as_the_reason(recording, monkeypatch):
    monkeypatch.setattr(process_memory, "_STATM", "/proc/no/statm")
    with pytest.raises(Unavailable, match="/proc/no/statm can't be read"):
        ProcessMemory().start(recording.context)
