"""What a session of this process is put together from: its worker, its collectors, its sink."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from tb_slowdown_plugin.errors import UsageError, reason_of
from tb_slowdown_plugin.writer.session import WriterSession
from tb_slowdown_plugin.writer.steps.recorder import Recorder

if TYPE_CHECKING:
    from tb_slowdown_plugin.collectors.base import Collector
    from tb_slowdown_plugin.writer.output.outbox import (
        Sink,
    )


def create_session(
    open_sink: Callable[[str, int], Sink],
    *,
    disabled: Iterable[str] = (),
    logdir: str | None = None,
) -> WriterSession:
    """A session of this process with all its collectors.

    Args:
      open_sink: Makes the sink of a session id and the index of this worker.
      disabled: Names of collectors that stay off.
      logdir: The run's own directory, where it is known and local.
    """
    from tb_slowdown_plugin.collectors.hooks.source_location import number_cells_anew
    from tb_slowdown_plugin.writer.output.environment import describe, find_worker
    from tb_slowdown_plugin.writer.steps.profiler_annotation import annotate, find_profiler
    from tb_slowdown_plugin.writer.steps.tracing_state import is_tracing

    number_cells_anew()
    worker = find_worker(os.environ)
    session_id = secrets.token_hex(4)
    collectors: list[Collector] = []
    trouble = ""
    try:
        collectors = create_collectors()
    except Exception as error:  # noqa: BLE001, a TensorFlow that moved must not stop the training
        trouble = reason_of(error)
    session = WriterSession(
        Recorder(is_tracing=is_tracing, is_profiled=find_profiler(), annotate=annotate),
        open_sink(session_id, worker[0]),
        session_id,
        collectors=collectors,
        disabled=disabled,
        describe=lambda states: describe(states, worker),
        logdir=logdir,
    )
    if trouble:
        session.report_failure("collectors", trouble)
    return session


def create_collectors() -> list[Collector]:
    """All collectors there are."""
    from tb_slowdown_plugin.collectors import registry

    return registry.create()


def collector_names(disable: Iterable[str]) -> frozenset[str]:
    """The names of collectors that a user wants off.

    Raises:
      UsageError: It is one text, or names a collector that there is not.
    """
    if isinstance(disable, str):
        raise UsageError(
            f"disable={disable!r} is one text; give a list of collector names: "
            f"disable=[{disable!r}]"
        )
    names = frozenset(disable)
    try:
        known = {collector.name for collector in create_collectors()}
    except Exception:  # noqa: BLE001, told when the session is made
        return names
    if unknown := sorted(map(str, names - known)):
        raise UsageError(
            f"disable={unknown!r}: unknown collector. Choose from {', '.join(sorted(known))}"
        )
    return names
