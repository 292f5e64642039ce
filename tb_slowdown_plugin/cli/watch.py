"""`tbslow watch`."""

from __future__ import annotations

import logging
import os
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.live import Live

from tb_slowdown_plugin.cli.output import tell
from tb_slowdown_plugin.cli.watch_table import Screen, plain_line
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.jobs.delivery import Command, Delivery, Webhook
from tb_slowdown_plugin.jobs.notices import Notice, Notices
from tb_slowdown_plugin.jobs.prometheus_export import Metrics, serve
from tb_slowdown_plugin.jobs.watch import RunLook, Watch
from tb_slowdown_plugin.reader.provider import load_filesystem

_PLAIN_SECONDS: Final = 60.0
"""Without a terminal, a live run has a line this often although nothing is new."""


def watch(chosen: Namespace) -> int:
    """Watches the runs of a logdir until it is interrupted; returns the exit status."""
    _load_quietly()
    watched = Watch(chosen.logdir)
    console = Console(highlight=False, markup=False, emoji=False)
    if chosen.once:
        return _once(watched, chosen, console)
    deliveries = [Delivery(sink, tell) for sink in _sinks(chosen)]
    metrics = Metrics()
    if chosen.prometheus is not None:
        host, port = serve(metrics, chosen.prometheus)
        tell(f"metrics at http://{host}:{port}/metrics")
    with ExitStack() as stack:
        for delivery in deliveries:
            stack.callback(delivery.close)
        show = _shower(chosen.logdir, console, stack)
        follow = _Follow(watched, show, [delivery.put for delivery in deliveries], metrics)
        try:
            while True:
                follow.look()
                time.sleep(watched.rest_seconds)
        except KeyboardInterrupt:
            return 0


class _Follow:
    """Looks, shows, and hands on what is new; the same trouble has one line."""

    def __init__(
        self,
        watched: Watch,
        show: Callable[[Sequence[RunLook], Sequence[Notice], str], None],
        sinks: Sequence[Callable[[Notice], None]],
        metrics: Metrics,
    ) -> None:
        self._watched = watched
        self._show = show
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
            tell(trouble)
        self._trouble = trouble
        try:
            self._show(self._looks, notices, trouble)
            self._is_mute = False
        except BrokenPipeError:
            raise
        except OSError as error:  # the disk that stdout goes to is full
            if not self._is_mute:
                tell(f"can't write to stdout: {error.strerror}; watching goes on")
            self._is_mute = True


def _once(watched: Watch, chosen: Namespace, console: Console) -> int:
    if chosen.exec is not None or chosen.webhook is not None or chosen.prometheus is not None:
        raise InputError("--once prints and exits: leave out --exec, --webhook, and --prometheus")
    looks = watched.look()
    if not looks:
        raise InputError(
            f"'{chosen.logdir}' has no slowdown data; train with tbslow.start(...) or "
            "tbslow.keras.SlowdownCallback(...) writing there"
        )
    if console.is_terminal:
        console.print(Screen(looks, chosen.logdir, time.time()))
    else:
        _print_lines([plain_line(look) for look in looks])
    return 0


def _load_quietly() -> None:
    """Loads TensorBoard's filesystem: TensorFlow, where it is installed, writes into the screen."""
    logging.getLogger("tensorboard").setLevel(logging.ERROR)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.stderr.flush()
    kept = os.dup(2)
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        load_filesystem()
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _sinks(chosen: Namespace) -> list[Command | Webhook]:
    found: list[Command | Webhook] = []
    if chosen.exec is not None:
        found.append(Command(chosen.exec))
    if chosen.webhook is not None:
        found.append(Webhook(chosen.webhook))
    return found


def _shower(
    logdir: str, console: Console, stack: ExitStack
) -> Callable[[Sequence[RunLook], Sequence[Notice], str], None]:
    if not console.is_terminal or console.is_dumb_terminal:
        return PlainLines(_print_lines).show
    live = stack.enter_context(Live(console=console, screen=True, auto_refresh=False))

    def show(looks: Sequence[RunLook], _: Sequence[Notice], trouble: str) -> None:
        live.update(Screen(looks, logdir, time.time(), trouble), refresh=True)

    return show


class PlainLines:
    """A line where a headline changes, a run begins or ends, or a minute has passed.

    Args:
      write: Gets the lines of one look.
      clock: Unix seconds.
    """

    def __init__(
        self, write: Callable[[list[str]], None], clock: Callable[[], float] = time.time
    ) -> None:
        self._write = write
        self._clock = clock
        self._told: dict[str, tuple[str, bool, float]] = {}

    def show(self, looks: Sequence[RunLook], notices: Sequence[Notice], _: str) -> None:
        """Writes what is new."""
        now = self._clock()
        lines = [notice.text for notice in notices]
        known = {look.report.run for look in looks}
        self._told = {run: told for run, told in self._told.items() if run in known}
        for look in looks:
            run, verdict = look.report.run, look.report.verdict
            before = self._told.get(run)
            is_due = look.is_live and before is not None and now - before[2] >= _PLAIN_SECONDS
            if before is None or before[:2] != (verdict, look.is_live) or is_due:
                lines.append(plain_line(look))
                self._told[run] = (verdict, look.is_live, now)
        if lines:
            clock = time.strftime("%H:%M:%S", time.localtime(now))
            self._write([f"{clock} {line}" for line in lines])


def _print_lines(lines: list[str]) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()
