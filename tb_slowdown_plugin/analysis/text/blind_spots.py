"""Blind spots: where a large part of a run's time passed and no collector could look.

A run of which much was not looked at is partly judged, however quiet its other signals are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.report_types.observations import SignalState
from tb_slowdown_plugin.analysis.report_types.report import Judged
from tb_slowdown_plugin.analysis.text.wording import duration, whole_percent
from tb_slowdown_plugin.analysis.types import zero_where_unknown
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import rule_of
from tb_slowdown_plugin.catalog.events import SESSION_WAITS
from tb_slowdown_plugin.catalog.parameters.shared import IDLE_CORES, MATTERS
from tb_slowdown_plugin.catalog.parameters.views import BUSY_DEVICE_PERCENT
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Float

_GRAPH: Final = "graph_operations"
"""Sampled only where the program builds and runs TF1 graphs."""
_NEEDED: Final = {"tracing": "retraces", "input_wait": "input waits"}
"""Collectors without which a healthy verdict has little to rest on, and what they measure."""
_BACKEND: Final = "Keras runs on "
"""In the reason of a collector that only knows TensorFlow."""
_WITHOUT: Final = re.compile(r"^not measured (here: )?")
_IN_GRAPHS: Final = ("input_wait", "input_stages", "communication")
"""Signals that are collected as graphs are traced, or in eager Python: not in a TF1 session."""


@dataclass(frozen=True, slots=True)
class BlindSpot:
    """One place where nobody looked."""

    short: str
    """For the headline."""
    sentence: str
    """With its seconds."""
    signals: tuple[str, ...] = ()
    """Signals that were not measured there."""
    reason: str = ""
    """Why they were not."""


def judged(spots: tuple[BlindSpot, ...]) -> Judged:
    """Whether a run with these blind spots is judged as a whole."""
    return "partly" if spots else "whole"


def find_blind_spots(
    run: Run,
    explained: Float,
    start: Float,
    place_of: Callable[[float], str] = lambda _: "",
) -> tuple[BlindSpot, ...]:
    """Where much of the time passed and nobody looked: no collector could, or it isn't read yet.

    Args:
      run: the recording.
      explained: (S,) seconds of each step that causes explain without an account: contention,
        and what grew with a mechanism.
      start: (S,) likewise of warm-up. Where traces are not measured, nobody knows of what it is.
      place_of: the line of the program in which so large a share of the wall must have passed, by
        samples of its stack; "" where they do not say.
    """
    wall = float(run.steps.period_seconds.sum())
    spots = [*_unread(run)]
    dark = _unmeasured(run, explained + start)
    if wall > 0 and dark.sum() >= MATTERS * wall:
        return (*spots, *_in_the_dark(run, dark, wall, place_of))
    dark = _unmeasured(run, explained)
    if wall > 0 and dark.sum() >= MATTERS * wall:
        return (*spots, *_not_running(run, dark, wall, ("tracing",)))
    return tuple(spots)


def _unread(run: Run) -> Iterable[BlindSpot]:
    if run.read_fraction == 1.0:
        return
    rest = whole_percent(1.0 - run.read_fraction)
    steps = len(run.steps) * run.steps_per_row
    yield BlindSpot(
        f"{rest} of the run's records aren't read yet",
        f"All of this is about the first {steps:,} steps. The rest of the run, {rest} of its "
        "records, is being read and analyzed.",
    )


def _in_the_dark(
    run: Run, dark: Float, wall: float, place_of: Callable[[float], str]
) -> Iterable[BlindSpot]:
    idle = _idle_rows(run, dark)
    waited = float(dark[idle].sum())
    waits = waited >= MATTERS * wall and not _is_device_busy(run)
    spots = [*_session(run, dark, wall), *_not_running(run, dark, wall, _NEEDED)]
    if waits:
        spots = [replace(s, sentence=f"{s.sentence} {_idle_text(run, idle)}") for s in spots]
        if not spots:
            spots.append(_waiting(run, idle, waited, wall, place_of(waited / wall)))
    return spots


def mark_signals(
    run: Run, states: Iterable[SignalState], spots: Iterable[BlindSpot]
) -> tuple[SignalState, ...]:
    """The states of signals; none is "measured" that was not looked at where the time passed."""
    reasons = {signal: spot.reason for spot in spots for signal in spot.signals}
    return tuple(
        _mark(run, state, reasons[state.signal])
        if state.signal in reasons and state.status in ("measured", "partly")
        else state
        for state in states
    )


def _mark(run: Run, state: SignalState, reason: str) -> SignalState:
    seen = any(
        names.family(account) == state.signal and np.nansum(seconds) > 0
        for account, seconds in run.steps.accounts.items()
    )
    if seen:
        return SignalState(state.signal, "partly", f"measured in Python only: {reason}")
    return SignalState(state.signal, "unavailable", f"not measured here, because {reason}")


def _unmeasured(run: Run, explained: Float) -> Float:
    """(S,) seconds that no clock and no cause accounts for.

    Of validation only its length is known where its function was traced before the monitor.
    """
    dark = run.steps.period_seconds - explained
    states = {state.name: state for state in run.environment.collectors}
    wait = states.get(names.INPUT_WAIT)
    unclocked = {"part"} if wait is None or not wait.reason else {"part", "validation"}
    for account, seconds in run.steps.accounts.items():
        if rule_of(account).class_ not in unclocked:
            dark -= zero_where_unknown(seconds)
    return np.asarray(np.maximum(zero_where_unknown(dark), 0.0))


def _idle_rows(run: Run, dark: Float) -> Float:
    cpu = run.steps.process_cpu_seconds
    return np.asarray(~np.isnan(cpu) & (cpu < IDLE_CORES * dark))


def _is_device_busy(run: Run) -> bool:
    """Whether an accelerator computes meanwhile, or may: without NVML its load isn't known."""
    if all(name.partition(":")[0] == "CPU" for name, _ in run.environment.devices):
        return False
    load = [
        values[~np.isnan(values)]
        for name, values in run.signals.values.items()
        if names.family(name) == names.GPU_UTILIZATION
    ]
    known = [float(values.mean()) for values in load if len(values)]
    return not known or max(known) >= BUSY_DEVICE_PERCENT


def _session(run: Run, dark: Float, wall: float) -> Iterable[BlindSpot]:
    samples = run.signals.values.get(_GRAPH)
    if samples is None or not (samples > 0).any():
        return
    told = [fact for _, fact in run.facts(SESSION_WAITS)]
    if told and not any(fact.numbers.get("waits") for fact in told):
        return  # all of a run is computing
    at = ", ".join(dict.fromkeys(fact.subject for fact in told if fact.subject))
    seconds = float(dark.sum())
    yield BlindSpot(
        f"{whole_percent(seconds / wall)} of the time passed in TF1 sessions, where waits aren't "
        "measured",
        f"{duration(seconds)} of {duration(wall)} have no clock: the program runs a TF1 graph, and "
        f"input waits inside `session.run()`{f' ({at})' if at else ''} aren't measured.",
        _IN_GRAPHS,
        "TF1 graphs run inside `session.run()`",
    )


def _not_running(run: Run, dark: Float, wall: float, needed: Iterable[str]) -> Iterable[BlindSpot]:
    """Collectors that did not run, or not for functions that were traced before them."""
    for state in run.environment.collectors:
        what = _NEEDED[state.name] if state.name in needed else None
        if what is None or (state.status == "running" and not state.reason):
            continue
        reason = state.reason or f"the collector was {state.status}"
        where = " everywhere" if state.status == "running" else ""
        backend = reason[reason.find(_BACKEND) :] if _BACKEND in reason else ""
        yield BlindSpot(
            f"{what} weren't measured{where}" + (f", because {backend}" if backend else ""),
            f"{duration(float(dark.sum()))} of {duration(wall)} have no clock, and {what} weren't "
            f"measured there: {_WITHOUT.sub('', reason)}.",
        )


def _waiting(run: Run, idle: Float, waited: float, wall: float, place: str) -> BlindSpot:
    what = (
        f"The samples of the training thread's stack show where: at `{place}`. A queue, a lock, a "
        "file, another process, or a network can be what it waits for there."
        if place
        else "Another process, a data loader outside of `tf.data`, or a network can be what it "
        "waited for."
    )
    return BlindSpot(
        f"for {whole_percent(waited / wall)} of the time the process waited "
        + (f"at {place}" if place else "for something that isn't measured"),
        f"{duration(waited)} of {duration(wall)} have no clock. {_idle_text(run, idle)} {what}",
    )


def _idle_text(run: Run, idle: Float) -> str:
    steps = run.steps
    rows = np.flatnonzero(idle)
    cpu = float(steps.process_cpu_seconds[rows].sum())
    period = float(steps.period_seconds[rows].sum())
    return (
        f"In {len(rows):,} of {len(steps):,} steps the process was nearly idle: it computed for "
        f"{duration(cpu)} of {duration(period)}, so it waited."
    )
