"""The contract between writer and reader: plugin name, version, tags, directory, run names.

`DICTIONARY` is what zlib knows before the first byte of a record: names of columns. A record of a
slow run holds some thirty columns of three values each, so their names would be half of it: knowing
them takes 260 of 1,390 bytes off a record (`benchmarks/record_bytes.py`, a week at one step a
second).

This text is part of the format. Changing one byte makes every record written
before unreadable, so new names are not added here: they just cost a little more.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Final

PLUGIN_NAME: Final = "slowdown"

SCHEMA_VERSION: Final = 1
"""Raised when an old reader would misread a new record; it then refuses the record."""

DIRECTORY: Final = "slowdown"
"""Records lie in LOGDIR/slowdown: a second growing event file beside the user's own
would freeze the user's charts in TensorBoard's Python loader."""

WORKER_PREFIX: Final = "worker-"

ROOT_RUN: Final = "."
"""Name of the run whose records lie at the top of a logdir, as TensorBoard has it."""

CHUNKS_PER_TAG: Final = 8
"""TensorBoard's Python loader keeps 10 records a tag unless told otherwise."""

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

_UNKNOWN: Final = "this run"


def tag(session: str, sequence: int) -> str:
    """The tag of a chunk: `tag("1f3a", 17)` -> `slowdown/1f3a/2`."""
    return f"{PLUGIN_NAME}/{session}/{sequence // CHUNKS_PER_TAG}"


def run_name(tensorboard_run: str) -> tuple[str, int]:
    """The run as the user knows it, and the worker, of a TensorBoard run name.

    `run_name("run1/slowdown")` -> `("run1", 0)`,
    `run_name("run1/slowdown/worker-2")` -> `("run1", 2)`. Records written into the
    user's own file (the `tf.summary` idiom) keep their name: `run_name("run1")` ->
    `("run1", 0)`.
    """
    parts = tensorboard_run.split("/")
    worker = 0
    last = parts[-1]
    if last.startswith(WORKER_PREFIX) and last[len(WORKER_PREFIX) :].isdecimal():
        worker = int(last[len(WORKER_PREFIX) :])
        parts = parts[:-1]
    if parts[-1:] != [DIRECTORY]:
        return tensorboard_run, 0
    return "/".join(parts[:-1]) or ROOT_RUN, worker


def worker_run(run: str, worker: int) -> str:
    """The TensorBoard run that a worker writes, which is also the name of its page.

    No run of a person has such a name: `run_name` is the way back.

    Example:
      >>> worker_run("run1", 2), worker_run(".", 1), run_name(worker_run("run1", 2))
      ('run1/slowdown/worker-2', 'slowdown/worker-1', ('run1', 2))
    """
    inside = f"{DIRECTORY}/{WORKER_PREFIX}{worker}"
    return inside if run == ROOT_RUN else f"{run}/{inside}"


def run_title(run: str, logdir: str | None) -> str:
    """The name of a run; of the one at the top of a logdir, which has none, the logdir's own.

    Of a worker's page also the worker.

    Args:
      run: The run's name in its logdir.
      logdir: A directory or an address; None where there is no single one.

    Example:
      >>> run_title("fold/1", "logs"), run_title(".", "gs://bucket/logs/"), run_title(".", None)
      ('fold/1', 'logs', 'this run')
      >>> run_title("run1/slowdown/worker-2", "logs")
      'run1, worker 2'
    """
    run, worker = run_name(run)
    if worker:
        return f"{run_title(run, logdir)}, worker {worker}"
    if run != ROOT_RUN:
        return run
    if not logdir:
        return _UNKNOWN
    if "://" in logdir:
        return PurePosixPath(logdir.partition("://")[2]).name or _UNKNOWN
    path = Path(logdir).expanduser()
    named = path if path.name not in ("", "..") else path.resolve()
    return named.name or _UNKNOWN
