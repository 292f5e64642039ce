"""Whether memory grows."""

from __future__ import annotations

from tb_slowdown_plugin.collectors.memory.memory_rise import MemoryRise


def test_a_sawtooth_is_no_rise():
    rise = MemoryRise()
    for sample in range(200):
        rise.note(1e9 + 1e8 * (sample % 5))
        assert not rise.is_rising
