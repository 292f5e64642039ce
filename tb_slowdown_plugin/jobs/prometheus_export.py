"""Serves what a watch sees as Prometheus metrics; needs `prometheus_client`."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any, Final

from tb_slowdown_plugin.catalog.causes import CAUSES
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.jobs.watch import RunLook

MAX_RUNS: Final = 200
"""Runs with metrics, live ones first: each is some ten series in Prometheus."""
_MAX_NAME: Final = 128
"""Characters of a run's name as a label value."""


class Metrics:
    """A collector of `prometheus_client`: it is asked at each scrape."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._looks: Sequence[RunLook] = ()
        self._can_read = False

    def update(self, looks: Sequence[RunLook]) -> None:
        """What the next scrape gets."""
        with self._lock:
            self._looks, self._can_read = looks, True

    def fail(self) -> None:
        """The logdir could not be read; the figures of the last look stay."""
        with self._lock:
            self._can_read = False

    def collect(self) -> Iterator[Any]:
        """The metric families."""
        from prometheus_client.core import GaugeMetricFamily

        with self._lock:
            looks, can_read = self._looks, self._can_read
        step = GaugeMetricFamily(
            "tbslow_step_seconds", "Median seconds per step at the end of the run", labels=["run"]
        )
        healthy = GaugeMetricFamily(
            "tbslow_healthy_step_seconds", "Baseline: seconds per step", labels=["run"]
        )
        wall = GaugeMetricFamily(
            "tbslow_wall_seconds_total", "Wall time of the run's steps", labels=["run"]
        )
        steps = GaugeMetricFamily("tbslow_steps_total", "Steps of the run", labels=["run"])
        # A gauge, although it mostly grows: a finding may be withdrawn.
        lost = GaugeMetricFamily(
            "tbslow_lost_seconds_total",
            "Seconds lost to a cause, as in the report",
            labels=["run", "cause"],
        )
        stalled = GaugeMetricFamily(
            "tbslow_stalled", "1 while no step of a live run ends, else 0", labels=["run"]
        )
        live = GaugeMetricFamily(
            "tbslow_live", "1 while the run's monitor writes records, else 0", labels=["run"]
        )
        left = GaugeMetricFamily(
            "tbslow_remaining_seconds",
            "Seconds that a live run still takes, where its number of steps is known",
            labels=["run"],
        )
        for name, look in _named(looks):
            report = look.report
            if look.is_live and report.remaining is not None:
                left.add_metric([name], report.remaining.seconds)
            if report.recent is not None:
                step.add_metric([name], report.recent.seconds)
            if report.healthy_step_seconds is not None:
                healthy.add_metric([name], report.healthy_step_seconds)
            wall.add_metric([name], report.wall_seconds)
            steps.add_metric([name], report.steps)
            for cause, seconds in lost_by_cause(look).items():
                lost.add_metric([name, cause], seconds)
            stalled.add_metric([name], float(look.is_stalled))
            live.add_metric([name], float(look.is_live))
        up = GaugeMetricFamily("tbslow_logdir_readable", "1 where the logdir can be read, else 0")
        up.add_metric([], float(can_read))
        runs = GaugeMetricFamily("tbslow_runs", "Runs in the logdir, those without metrics too")
        runs.add_metric([], len(looks))
        yield from (step, healthy, wall, steps, lost, stalled, live, left, up, runs)


def lost_by_cause(look: RunLook) -> dict[str, float]:
    """Cause id -> lost seconds; ids of a newer version are "other"."""
    found: dict[str, float] = {"unexplained": look.report.unexplained_seconds}
    for cause, seconds in look.report.lost_by_cause().items():
        name = cause if cause in CAUSES else "other"
        found[name] = found.get(name, 0.0) + seconds
    return found


def serve(metrics: Metrics, address: str) -> tuple[str, int]:
    """Serves them until the process ends.

    Args:
      metrics: What to serve.
      address: "PORT" on this machine only, or "HOST:PORT".

    Returns:
      Host and port; port 0 takes a free one.

    Raises:
      InputError: The address is wrong or in use, or `prometheus_client` isn't installed.
    """
    try:
        from prometheus_client import CollectorRegistry, start_http_server
    except ImportError as error:
        raise InputError(
            '--prometheus needs prometheus_client: pip install "tb-slowdown-plugin[watch]"'
        ) from error
    host, _, port = address.rpartition(":")
    host = host or "127.0.0.1"
    if not port.isdecimal() or int(port) > 65_535:
        raise InputError(f"--prometheus {address}: expected PORT or HOST:PORT")
    registry = CollectorRegistry()
    registry.register(metrics)
    try:
        server, _ = start_http_server(int(port), addr=host, registry=registry)
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"--prometheus {address}: can't listen there ({reason})") from error
    return host, int(server.server_port)


def _named(looks: Sequence[RunLook]) -> Iterator[tuple[str, RunLook]]:
    """Runs with label values that are short and unlike each other."""
    seen: set[str] = set()
    for look in looks[:MAX_RUNS]:
        name = look.title[:_MAX_NAME]
        if name not in seen:
            seen.add(name)
            yield name, look
