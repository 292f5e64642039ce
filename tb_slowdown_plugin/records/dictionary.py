"""What zlib knows before the first byte of a record: the names of its columns.

A record of a slow run holds some thirty columns of three values each, so their
names would be half of it: knowing them takes 260 of 1,390 bytes off a record
(`benchmarks/record_bytes.py`, a week at one step a second).

This text is part of the format. Changing one byte makes every record written
before unreadable, so new names are not added here: they just cost a little more.
"""

from __future__ import annotations

from typing import Final

_STEPS: Final = (
    "number period inside process_cpu thread_cpu gap kind items "
    "account/tracing:first account/tracing:again account/first_execution:first "
    "account/callback: account/checkpoint account/summary account/validation "
    "account/communication account/phase: account/optimizer account/backward account/forward "
    "account/gc account/input_wait"
)
_SIGNALS: Final = (
    "time row allocator_peak_bytes:GPU:0 allocator_in_use_bytes:GPU:0 "
    "allocator_peak_bytes:CPU:0 allocator_in_use_bytes:CPU:0 "
    "minor_faults major_faults voluntary_switches involuntary_switches "
    "graph_operations eager_functions open_tapes oldest_tape_steps live_tapes "
    "live_tensors live_tensor_bytes run_delay_seconds thread_run_delay_seconds "
    "throttled_seconds allowed_cores cpu_pressure_seconds io_pressure_seconds "
    "memory_pressure_seconds memory_available_bytes swap_used_bytes "
    "container_memory_bytes container_memory_limit_bytes disk_read_bytes "
    "disk_written_bytes optimizer_variables optimizer_bytes monitor_cpu_seconds rss_bytes"
)


def _columns(names: str, head: bytes) -> bytes:
    # Field 1, length, name: as protobuf writes it, and what usually follows.
    return b"".join(b"\x0a" + bytes([len(name)]) + name.encode() + head for name in names.split())


DICTIONARY: Final = _columns(_STEPS, b"\x18\x1e\x2a\x78") + _columns(
    _SIGNALS, b"\x10\x02\x18\x03\x2a\x18"
)
