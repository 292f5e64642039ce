"""The captures of a remote logdir, copied to a local disk when they are asked for."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.reader.object_store import ObjectStore
from tb_slowdown_plugin.reader.stored_runs import captures_of, is_capture

_WAIT_SECONDS: Final = 20.0
"""A request waits so long for the storage; the copying goes on without it."""
_FRESH_SECONDS: Final = 30.0
"""How long it is not looked again whether a run has more."""


class CaptureCopies:
    """Copies of captures, laid out as in their logdir; safe for many threads.

    Args:
      logdir: Its address.
      wait_seconds: How long `copy` waits.
      clock: Seconds.
    """

    def __init__(
        self,
        logdir: str,
        *,
        wait_seconds: float = _WAIT_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._logdir = logdir
        self._wait_seconds = wait_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self.root: Path | None = None
        """A local directory in the place of the logdir; None until something was asked for."""
        self._threads: dict[str, threading.Thread] = {}
        self._looked: dict[str, tuple[float, str]] = {}
        """Run -> when its captures were copied, and why not all were."""

    def copy(self, run: str) -> str:
        """Copies a run's captures that are not here yet; why not all are, "" where they are."""
        with self._lock:
            looked = self._looked.get(run)
            if looked is not None and self._clock() - looked[0] < _FRESH_SECONDS:
                return looked[1]
            thread = self._threads.get(run)
            if thread is None:
                if self.root is None:
                    self.root = Path(tempfile.mkdtemp(prefix="tbslow-"))
                    weakref.finalize(self, shutil.rmtree, self.root, ignore_errors=True)
                thread = threading.Thread(target=self._copy, args=(run,), daemon=True)
                self._threads[run] = thread
                thread.start()
        thread.join(self._wait_seconds)
        with self._lock:
            looked = self._looked.get(run)
        return (
            looked[1] if looked else "the remote logdir hasn't responded; its captures come later"
        )

    def _copy(self, run: str) -> None:
        why = ""
        try:
            assert self.root is not None
            store = ObjectStore(self._logdir)
            for file in captures_of(run, store.list_files(is_capture)):
                target = self.root / file.name
                is_inside = not {"", ".", ".."} & set(file.name.split("/"))
                is_here = target.is_file() and target.stat().st_size == file.size
                if is_inside and not is_here:
                    store.copy(file, self.root)
        except ImportError as error:
            why = f"the captures of a remote logdir can't be read: {error}"
        except Exception as error:  # noqa: BLE001 - each file system has exceptions of its own
            reason = str(error) or type(error).__name__
            why = f"the captures of the remote logdir can't be read: {reason}"
        with self._lock:
            self._looked[run] = self._clock(), why
            self._threads.pop(run, None)
