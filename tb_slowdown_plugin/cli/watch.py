"""`tbslow watch`."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import NoReturn

from rich.console import Console

from tb_slowdown_plugin.cli.display.watch_display import (
    Display,
    LiveScreen,
    PlainLines,
    print_lines,
)
from tb_slowdown_plugin.cli.display.watch_table import Screen, plain_line
from tb_slowdown_plugin.cli.output import tell
from tb_slowdown_plugin.errors import InputError, tell_no_data
from tb_slowdown_plugin.jobs.delivery import Command, Delivery, Webhook
from tb_slowdown_plugin.jobs.notices import Notice, Notices
from tb_slowdown_plugin.jobs.prometheus_export import Metrics, serve
from tb_slowdown_plugin.jobs.watch import RunLook, Watch
from tb_slowdown_plugin.reader.provider import load_filesystem


def watch(chosen: Namespace) -> int:
    """Watches the runs of a logdir until it is interrupted; returns the exit status."""
    _load_quietly(chosen.logdir)
    watched = Watch(chosen.logdir)
    console = Console(highlight=False, markup=False, emoji=False)
    if chosen.once:
        return _once(watched, chosen, console)
    on_screen = console.is_terminal and not console.is_dumb_terminal
    sinks = _sinks(chosen, on_screen=on_screen)
    metrics = Metrics()
    if chosen.prometheus is not None:
        host, port = serve(metrics, chosen.prometheus)
        tell(f"metrics at http://{host}:{port}/metrics")
    with ExitStack() as stack:
        display: Display = PlainLines(print_lines)
        if on_screen:
            display = stack.enter_context(LiveScreen(chosen.logdir, console))
        deliveries = [Delivery(sink, display.warn) for sink in sinks]
        for delivery in deliveries:
            stack.callback(delivery.close)
        follow = _Follow(watched, display, [delivery.put for delivery in deliveries], metrics)
        resized = threading.Event()
        _handle(signal.SIGWINCH, lambda *_: resized.set(), stack)
        _handle(signal.SIGTERM, _end, stack)
        try:
            while True:
                follow.look()
                _rest(watched.rest_seconds, resized, display)
        except KeyboardInterrupt:
            return 0


def _rest(seconds: float, resized: threading.Event, display: Display) -> None:
    """Waits for the next look; a terminal of another size is drawn at once."""
    due = time.monotonic() + seconds
    while (rest := due - time.monotonic()) > 0.0:
        if resized.wait(rest):
            resized.clear()
            display.redraw()


def _handle(
    number: signal.Signals, handler: Callable[[int, FrameType | None], object], stack: ExitStack
) -> None:
    stack.callback(signal.signal, number, signal.signal(number, handler))


def _end(number: int, _: FrameType | None) -> NoReturn:
    """Ends as the signal would, but gives the terminal back."""
    raise SystemExit(128 + number)


class _Follow:
    """Looks, shows, and hands on what is new; the same trouble has one line."""

    def __init__(
        self,
        watched: Watch,
        display: Display,
        sinks: Sequence[Callable[[Notice], None]],
        metrics: Metrics,
    ) -> None:
        self._watched = watched
        self._display = display
        self._sinks = sinks
        self._metrics = metrics
        self._notices = Notices()
        self._looks: Sequence[RunLook] = ()
        self._trouble = ""
        self._is_mute = False

    def look(self) -> None:
        """One look."""
        notices: Sequence[Notice] = ()
        trouble = ""
        try:
            self._looks = self._watched.look()
        except InputError as error:
            trouble = f"{error}; waiting for it"
            self._metrics.fail()
        else:
            notices = self._notices.update(self._looks)
            self._metrics.update(self._looks)
        for notice in notices:
            for put in self._sinks:
                put(notice)
        if trouble and trouble != self._trouble:
            self._display.warn(trouble)
        self._trouble = trouble
        try:
            self._display.show(self._looks, notices, trouble)
            self._is_mute = False
        except BrokenPipeError:
            raise
        except OSError as error:  # the disk that stdout goes to is full
            if not self._is_mute:
                self._display.warn(f"can't write to stdout: {error.strerror}; the watch continues")
            self._is_mute = True


def _once(watched: Watch, chosen: Namespace, console: Console) -> int:
    if chosen.exec is not None or chosen.webhook is not None or chosen.prometheus is not None:
        raise InputError("--once prints and exits: leave out --exec, --webhook, and --prometheus")
    looks = watched.look()
    if not looks:
        raise InputError(tell_no_data(f"'{chosen.logdir}'"))
    if console.is_terminal:
        console.print(Screen(looks, chosen.logdir, time.time(), is_whole=True))
    else:
        print_lines([plain_line(look) for look in looks])
    return 0


def _load_quietly(logdir: str) -> None:
    """Loads TensorBoard's filesystem: TensorFlow, where it is installed, writes into the screen."""
    logging.getLogger("tensorboard").setLevel(logging.ERROR)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.stderr.flush()
    kept = os.dup(2)
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        load_filesystem(logdir)
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _sinks(chosen: Namespace, *, on_screen: bool) -> list[Command | Webhook]:
    found: list[Command | Webhook] = []
    if chosen.exec is not None:
        found.append(Command(chosen.exec, is_quiet=on_screen))
    if chosen.webhook is not None:
        found.append(Webhook(chosen.webhook))
    return found
