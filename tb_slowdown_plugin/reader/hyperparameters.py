"""What a program logged for the HParams plugin, from the event files of a local logdir.

The tab asks TensorBoard, which has read the files already: `run_store.RunStore.hyperparameters`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.reader.event_files import RecordFile, find_event_files
from tb_slowdown_plugin.reader.provider import Logged, hyperparameters_in_event
from tb_slowdown_plugin.records.metadata import DIRECTORY, ROOT_RUN

_MOST_RECORDS: Final = 1_000
"""Of a file: a program logs them before it trains, and its files may hold images for days."""


def read_hyperparameters(logdir: Path, run: str) -> Logged:
    """The hyperparameters of one run, logged in its directory or below it.

    Args:
      logdir: A local one.
      run: Its name there.

    Returns:
      Name -> value; empty where there are none, or none can be read.
    """
    home = logdir if run == ROOT_RUN else logdir / run
    files = find_event_files(home, lambda _: None) if home.is_dir() else []
    found: dict[str, str | float | bool] = {}
    for file in files:
        parts = file.tensorboard_run.split("/")
        if DIRECTORY not in parts and not _is_of_run_below(home, parts):
            for logged in _logged_in(file.path):
                found = {**logged, **found}
    return found


def _is_of_run_below(home: Path, parts: list[str]) -> bool:
    """Whether a directory is in one that has records of its own."""
    below = (home.joinpath(*parts[:end]) for end in range(1, len(parts) + 1))
    return any(folder != home and (folder / DIRECTORY).is_dir() for folder in below)


def _logged_in(path: Path) -> Iterator[Logged]:
    try:
        with path.open("rb") as opened:
            for raw in islice(RecordFile(opened, path.stat().st_size), _MOST_RECORDS):
                logged = hyperparameters_in_event(raw)
                if logged:
                    yield logged
    except OSError:
        return
