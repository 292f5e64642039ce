"""The picture of each cause: the step times of a recorded run, and what shows the cause in them.

It is drawn from the record alone, not from the report, so it changes with the recording only.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import cause_of_account, rule_of
from tb_slowdown_plugin.catalog.causes import CAUSES, FAMILIES, CatalogCause, Hue
from tb_slowdown_plugin.catalog.collectors import Signal, signal
from tb_slowdown_plugin.catalog.parameters.shared import START_SHARE
from tb_slowdown_plugin.catalog.signals import THREAD_CPU
from tb_slowdown_plugin.reader.logdir import read_runs
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Float

_WIDTH, _LEFT, _RIGHT, _TOP = 640, 8, 8, 44
_STEPS_HEIGHT, _SIGNAL_HEIGHT, _GAP, _BOTTOM = 110, 60, 26, 22
_BUCKETS = 120
_LEAST_SHARE = 0.02
"""Of the colored seconds, for an account to be in the legend."""
_SCALES = {
    "bytes": (2**20, "MiB"),
    "hertz": (1e6, "MHz"),
    "seconds": (1e-3, "ms"),
    "count": (1, ""),
}
"""Unit of the catalog -> what a number is divided by, and what follows it."""


def write_pictures(root: Path) -> dict[str, str]:
    """File below docs -> an SVG image, for each cause whose program has a recording."""
    pictures = {}
    for cause in CAUSES.values():
        run = read_recording(root, cause)
        if run is not None:
            pictures[f"images/causes/{cause.id}.svg"] = draw(cause, run)
    return pictures


def read_recording(root: Path, cause: CatalogCause) -> Run | None:
    """The recorded run of the program of a cause, None without one."""
    folder = root / "tests" / "recordings" / cause.program
    if not cause.program or not folder.is_dir():
        return None
    (run,) = read_runs(str(folder), warn=print)
    return run


def colored_accounts(cause: CatalogCause, run: Run) -> list[str]:
    """The accounts of a run that its picture colors: those that the catalog names, else its own."""
    measured = run.steps.accounts
    named = [name for name in cause.shown if name in measured]
    return named or [
        name
        for name in measured
        if cause_of_account(name) == cause.id
        and rule_of(name).class_ != "first"
        and not cause.shown
    ]


def shown_signal(cause: CatalogCause, run: Run) -> tuple[str, Signal] | None:
    """The signal below the step times, with its name in the record; None without one."""
    for name in run.signals.values:
        known = signal(name)
        if known is not None and known.name in cause.shown:
            return name, known
    return None


def draw(cause: CatalogCause, run: Run) -> str:
    """The image: step times with the cause's seconds in its color, and its signal below."""
    seconds = 1e3 * run.steps.period_seconds
    part = np.zeros(len(seconds))
    for name in colored_accounts(cause, run):
        part += 1e3 * np.nan_to_num(run.steps.accounts[name])
    if THREAD_CPU in cause.shown:
        part = 1e3 * np.nan_to_num(run.steps.thread_cpu_seconds)
    edges = np.linspace(0, len(seconds), min(_BUCKETS, len(seconds)) + 1).astype(np.int64)
    whole, part = _means(seconds, edges), np.minimum(_means(part, edges), _means(seconds, edges))
    begins = 0 if cause.id == "warm_up" else np.searchsorted(edges, START_SHARE * len(seconds))
    most = float(whole[begins:].max())
    title = f"Step time, up to {_number(most)} ms (means of {_count(edges)})"
    legend = list(_legend(cause, run))
    parts = [
        _text(_LEFT, 18 if legend else _TOP - 10, title),
        *legend,
        _area("rest", whole, most, _TOP, _STEPS_HEIGHT),
        _area("part", part, most, _TOP, _STEPS_HEIGHT) if part.any() else "",
        *_cut(whole, most),
    ]
    bottom = _TOP + _STEPS_HEIGHT
    found = shown_signal(cause, run)
    if found is not None:
        parts += _lane(run, *found, bottom + _GAP)
        bottom += _GAP + _SIGNAL_HEIGHT
    numbers = run.steps.number
    parts += [
        f'<path class="line" d="M{_LEFT} {bottom}H{_WIDTH - _RIGHT}"/>',
        f'<text class="faint" x="{_LEFT}" y="{bottom + 15}">step {numbers[0]:,}</text>',
        f'<text class="faint" x="{_WIDTH - _RIGHT}" y="{bottom + 15}" text-anchor="end">'
        f"step {numbers[-1]:,}</text>",
    ]
    return _frame(cause, bottom + _BOTTOM, "\n".join(filter(None, parts)))


def _means(values: Float, edges: np.ndarray) -> Float:
    sums: Float = np.add.reduceat(values, edges[:-1]) / np.diff(edges)
    return sums


def _count(edges: np.ndarray) -> str:
    sizes = sorted({int(size) for size in np.diff(edges)})
    steps = " or ".join(map(str, sizes))
    return f"{steps} step{'s' if sizes != [1] else ''}"


def _legend(cause: CatalogCause, run: Run) -> Iterable[str]:
    """What the color stands for."""
    colored = colored_accounts(cause, run)
    took = {name: float(np.nansum(run.steps.accounts[name])) for name in colored}
    large = [name for name in took if took[name] >= _LEAST_SHARE * sum(took.values())]
    text = " + ".join(large)
    if THREAD_CPU in cause.shown:
        text = "CPU time of the training thread"
    if text:
        yield f'<rect class="part" x="{_LEFT}" y="26" width="10" height="10"/>'
        yield _text(_LEFT + 16, 35, text)


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x:g}" y="{y:g}">{html.escape(text)}</text>'


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _area(kind: str, values: Float, most: float, top: int, height: int) -> str:
    """A staircase of one value a bucket."""
    wide = (_WIDTH - _LEFT - _RIGHT) / len(values)
    path = [f"M{_LEFT} {top + height}"]
    for number, value in enumerate(values, start=1):
        y = top + height * (1 - min(float(value) / most, 1.0))
        path.append(f"V{y:.1f}H{_LEFT + wide * number:.1f}")
    return f'<path class="{kind}" d="{"".join(path)}V{top + height}Z"/>'


def _cut(values: Float, most: float) -> Iterable[str]:
    """A mark on what is higher than the picture, with the largest of it."""
    wide = (_WIDTH - _LEFT - _RIGHT) / len(values)
    high = np.flatnonzero(values > most)
    for bucket in high:
        x = _LEFT + wide * (bucket + 0.5)
        yield f'<path class="mark" d="M{x - 4:.1f} {_TOP + 5}h8l-4 -6z"/>'
    if len(high):
        x = _LEFT + wide * (high[-1] + 1) + 4
        largest = float(values[high].max())
        yield f'<text class="faint" x="{x:.1f}" y="{_TOP + 8}">up to {_number(largest)} ms</text>'


def _lane(run: Run, name: str, known: Signal, top: int) -> Iterable[str]:
    """A signal as a staircase over the same steps."""
    values = run.signals.values[name]
    rows = run.signals.row
    measured = ~np.isnan(values)
    rows, values = rows[measured], values[measured]
    ends = np.append(np.diff(rows) > 0, True)
    rows, values = rows[ends], values[ends]
    divisor, unit = _SCALES[known.unit]
    values = values / divisor
    if known.cumulative:
        values = np.append(np.diff(values) / np.diff(rows), 0.0)
        values[-1] = values[-2]
        unit = f"{unit} per step".strip()
    at = np.linspace(0, len(run.steps), _BUCKETS, endpoint=False)
    drawn = values[np.clip(np.searchsorted(rows, at, side="right") - 1, 0, None)]
    most = float(drawn.max())
    detail = names.detail(name)
    title = (
        f"{known.title}{f' of {detail}' if detail else ''}, up to {_number(most)} {unit}".strip()
    )
    return (
        _text(_LEFT, top - 8, title),
        _area("part", drawn, most or 1.0, top, _SIGNAL_HEIGHT),
    )


def _frame(cause: CatalogCause, height: int, parts: str) -> str:
    family = FAMILIES[cause.family]
    label = html.escape(f"{cause.title}: step times of a recorded run", quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img" aria-label="{label}">\n'
        "<style>\n"
        "text { font: 12px system-ui, sans-serif; }\n"
        f"{_colors('#ffffff', '#1f2329', '#69717b', '#cfd4da', family.light)}\n"
        "@media (prefers-color-scheme: dark) {\n"
        f"{_colors('#1e2025', '#e6e8eb', '#9aa2ad', '#4a5059', family.dark)}\n"
        "}\n</style>\n"
        f'<rect class="page" width="{_WIDTH}" height="{height}" rx="4"/>\n'
        f"{parts}\n</svg>\n"
    )


def _colors(page: str, ink: str, faint: str, rest: str, hue: Hue) -> str:
    return (
        f".page {{ fill: {page}; }} text {{ fill: {ink}; }} .faint, .mark {{ fill: {faint}; }} "
        f".line {{ stroke: {faint}; }} .rest {{ fill: {rest}; }} .part {{ fill: {hue.fill}; }}"
    )
