"""TensorBoard's Python loader over a logdir, for tests: reloads when told."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from event_files import frame
from tensorboard.backend.event_processing import data_ingester
from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer

from tb_slowdown_plugin.reader.run_store import RunStore
from tb_slowdown_plugin.records.run import Run

with warnings.catch_warnings():  # TensorBoard's copy of bleach warns about itself
    warnings.simplefilter("ignore", DeprecationWarning)
    from tensorboard.backend import application


def serve(plugin: Any) -> Any:
    """TensorBoard's WSGI application with one plugin."""
    return application.TensorBoardWSGI([plugin])


class Counting:
    """A data provider that remembers what was asked of it."""

    def __init__(self, provider: Any) -> None:
        self._provider = provider
        self.read_tags: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._provider, name)

    def read_tensors(self, *args: Any, **kwargs: Any) -> Any:
        self.read_tags.extend(sorted(kwargs["run_tag_filter"].tags))
        return self._provider.read_tensors(*args, **kwargs)


class TensorBoard:
    """TensorBoard's Python loader over a logdir, with default sampling; reloads when told."""

    def __init__(self, logdir: Path | str, clock: Callable[[], float] = time.time) -> None:
        self._logdir = str(logdir)
        self._multiplexer = EventMultiplexer(
            size_guidance=data_ingester.DEFAULT_SIZE_GUIDANCE,
            tensor_size_guidance=data_ingester.DEFAULT_TENSOR_SIZE_GUIDANCE,
        )
        self.provider = Counting(MultiplexerDataProvider(self._multiplexer, self._logdir))
        self.catalogue = RunStore(self.provider, self._logdir, clock=clock)
        self.reload()

    def reload(self) -> None:
        self._multiplexer.AddRunsFromDirectory(self._logdir)
        self._multiplexer.Reload()
        self.catalogue.listing()


def append(path: Path, events: Iterable[bytes]) -> None:
    with path.open("ab") as file:
        for event in events:
            file.write(frame(event))


def same(found: Run, expected: Run) -> None:
    np.testing.assert_array_equal(found.steps.number, expected.steps.number)
    np.testing.assert_array_equal(found.steps.period_seconds, expected.steps.period_seconds)
    np.testing.assert_array_equal(found.steps.ended, expected.steps.ended)
    assert found.steps.accounts.keys() == expected.steps.accounts.keys()
    assert found.sessions == expected.sessions
    assert found.events == expected.events
    assert found.notes == expected.notes
    assert [worker.name for worker in found.workers] == [w.name for w in expected.workers]
