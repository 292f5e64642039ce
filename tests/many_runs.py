"""Runs of a team, as many as asked for, of five kinds in turn, with hyperparameters.

And real recordings, copied under as many names as asked for.
"""

from __future__ import annotations

import shutil
from itertools import cycle, islice
from pathlib import Path
from typing import Final

import event_files
import numpy as np
from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.plugins.hparams import plugin_data_pb2

from tb_slowdown_plugin.records.types import Environment, Event, Execution, Trace

EXPERIMENTS: Final = ("bert-base", "resnet50", "recommender", "rl-agent")
KINDS: Final = ("healthy", "late_input", "gc", "retracing", "short")
RATES: Final = (0.0003, 0.001, 0.003, 0.01)
BATCHES: Final = (64, 128, 256)


def write_many(logdir: Path, count: int, *, steps: int = 5_000) -> list[str]:
    """Writes `count` runs; their names."""
    return [write_run(logdir, number, steps=steps) for number in range(count)]


def copy_recordings(logdir: Path, count: int) -> list[str]:
    """Copies real recordings, each under a name of its own, again and again; their names."""
    tests = Path(__file__).parent
    sources = [
        *sorted((tests / "recordings").glob("*/slowdown")),
        *sorted((tests.parent / "demo_logs").glob("*/slowdown")),
    ]
    names = []
    for number, source in enumerate(islice(cycle(sources), count)):
        name = f"recorded/{source.parent.name}-{number:04d}"
        shutil.copytree(source, logdir / name / "slowdown")
        names.append(name)
    return names


def write_run(logdir: Path, number: int, *, steps: int = 5_000) -> str:
    """Writes the run of a number, whose kind is `KINDS[number % 5]`; its name."""
    kind = KINDS[number % len(KINDS)]
    rate, batch = RATES[number % len(RATES)], BATCHES[number % len(BATCHES)]
    experiment = EXPERIMENTS[number // len(KINDS) % len(EXPERIMENTS)]
    name = f"{experiment}/lr-and-batch-sweep-2026-11/lr{rate:g}-bs{batch}-seed{number:04d}"
    count = 6 if kind == "short" else steps
    began = event_files.STARTED + 600.0 * number
    table = event_files.make_steps(
        count, seconds=0.02 * (1 + number % 7), seed=number, started=began
    )
    table.items[:] = batch
    extra = np.zeros(count)
    events: list[Event] = []
    late = np.arange(count) >= count // 3
    if kind == "late_input":
        extra = np.where(late, table.period_seconds, 0.0)
        table.accounts["input_wait"] = extra  # type: ignore[index]
    elif kind == "gc":
        extra = np.where(np.arange(count) % 25 == 24, 5 * table.period_seconds, 0.0)
        table.accounts["gc"] = extra  # type: ignore[index]
    elif kind == "retracing":
        rows = np.flatnonzero(late & (np.arange(count) % 40 == 0))
        extra[rows] = 1.5
        table.accounts["tracing:again"] = extra  # type: ignore[index]
        for row in rows:
            trace = Trace(int(row), "train_step", "train.py:41", 1.5, 1.2, "signature")
            when = float(table.ended[row])
            events += [
                Event(int(row), when, trace),
                Event(int(row), when, Execution(int(row), 1, 0.1)),
            ]
    table.period_seconds[:] = np.rint((table.period_seconds + extra) * 1e6) / 1e6
    table.ended[:] = began + np.cumsum(table.period_seconds)
    versions = {"tensorflow": "2.20.0" if number % 3 else "2.21.0", "python": "3.11"}
    chunks = event_files.split(
        table,
        session=f"{number:08x}",
        started=began,
        events=events,
        environment=Environment(versions=versions, devices=(("GPU:0", "GPU"),)),
    )
    event_files.write_chunks(logdir / name / "slowdown", chunks)
    write_hyperparameters(logdir / name, learning_rate=rate, batch_size=float(batch))
    return name


def write_hyperparameters(folder: Path, **values: float) -> None:
    """What `hparams.api.hparams(...)` writes into a run."""
    info = plugin_data_pb2.SessionStartInfo()
    for name, value in values.items():
        info.hparams[name].number_value = value
    data = plugin_data_pb2.HParamsPluginData(session_start_info=info, version=0)
    about = summary_pb2.SummaryMetadata.PluginData(
        plugin_name="hparams", content=data.SerializeToString()
    )
    value = summary_pb2.Summary.Value(
        tag="_hparams_/session_start_info",
        metadata=summary_pb2.SummaryMetadata(plugin_data=about),
    )
    event = event_pb2.Event(
        wall_time=event_files.STARTED, summary=summary_pb2.Summary(value=[value])
    )
    event_files.write_events(folder, [event.SerializeToString()], number=7)
