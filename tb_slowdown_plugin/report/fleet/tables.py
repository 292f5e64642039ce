"""The two tables of a fleet in memory, and as Parquet files.

FILE.parquet has the runs and FILE.causes.parquet the causes. The same runs make the same
bytes: rows are sorted, and there is no time of writing.
"""

from __future__ import annotations

import datetime
import importlib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tb_slowdown_plugin._version import __version__
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.reader.stored_runs import StoredRun
from tb_slowdown_plugin.report.fleet.columns import (
    CAUSE_COLUMNS,
    RUN_COLUMNS,
    SCHEMA,
    Column,
    Kind,
    Row,
)

_MARK: Final = b"tbslow_fleet"


@dataclass(frozen=True, slots=True)
class FleetTables:
    """Arrow tables, sorted by logdir and run."""

    runs: Any
    causes: Any


def import_extra(name: str) -> Any:
    """A module of the extra `fleet`.

    Raises:
      InputError: It is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InputError(
            f"tbslow fleet needs {name.partition('.')[0]}: pip install 'tb-slowdown-plugin[fleet]'"
        ) from error


def make_tables(runs: Iterable[Row], causes: Iterable[Row]) -> FleetTables:
    """Tables of rows, in no order yet."""
    pyarrow = import_extra("pyarrow")
    return FleetTables(
        pyarrow.Table.from_pylist(list(runs), _schema(RUN_COLUMNS)),
        pyarrow.Table.from_pylist(list(causes), _schema(CAUSE_COLUMNS)),
    )


def join_tables(parts: Sequence[FleetTables]) -> FleetTables:
    """All rows of some tables, sorted."""
    pyarrow = import_extra("pyarrow")
    runs = pyarrow.concat_tables([part.runs for part in parts])
    causes = pyarrow.concat_tables([part.causes for part in parts])
    key = [("logdir", "ascending"), ("run", "ascending")]
    return FleetTables(
        runs.sort_by(key).combine_chunks(),
        causes.sort_by([*key, ("rank", "ascending")]).combine_chunks(),
    )


_BEGUN_AT: Final = re.compile(r"-\d{8}-\d{6}(?:-\d+)?$")
"""What `writer/launch/run_script.py` adds to the name of a program."""


def name_teams(tables: FleetTables, team: re.Pattern[str] | None) -> FleetTables:
    """The same with the column `team` by an expression: its first group, or all that it finds."""
    pyarrow = import_extra("pyarrow")
    names = tables.runs.column("run").to_pylist()
    teams = pyarrow.array([team_of(name, team) for name in names], pyarrow.string())
    place = tables.runs.schema.get_field_index("team")
    return FleetTables(
        tables.runs.set_column(place, tables.runs.schema.field(place), teams), tables.causes
    )


def team_of(run: str, team: re.Pattern[str] | None) -> str | None:
    """The team of a run by its name; of one that `tbslow run` has named, the program.

    >>> team_of("vision/resnet/7", None), team_of(".", None)
    ('vision', None)
    >>> team_of("train-20261127-191325", None)
    'train'
    >>> team_of("exp-nlp-3", re.compile("exp-([a-z]+)"))
    'nlp'
    """
    if team is None:
        first = run.partition("/")[0]
        return None if first == "." else _BEGUN_AT.sub("", first)
    found = team.search(run)
    return found and (found[1] if found.re.groups else found[0])


def causes_file(path: str) -> str:
    """Where the causes are kept.

    >>> causes_file("out/fleet.parquet")
    'out/fleet.causes.parquet'
    """
    return f"{path.removesuffix('.parquet')}.causes.parquet"


def write_tables(tables: FleetTables, path: str) -> None:
    """Writes both files; a reader finds the old one or the new one, never a half.

    Raises:
      InputError: One can't be written.
    """
    # The causes first: runs without their causes would count as known at the next call.
    try:
        _write(tables.causes, causes_file(path))
        _write(tables.runs, path)
    except OSError as error:
        raise InputError(f"can't write '{path}': {error.strerror or error}") from error


def _write(table: Any, target: str) -> None:
    parquet = import_extra("pyarrow.parquet")
    if "://" in target:
        with import_extra("fsspec").open(target, "wb") as file:
            parquet.write_table(table, file, compression="zstd")
        return
    unfinished = f"{target}.{os.getpid()}.tmp"
    try:
        parquet.write_table(table, unfinished, compression="zstd")
        Path(unfinished).replace(target)
    finally:
        Path(unfinished).unlink(missing_ok=True)


def read_tables(path: str) -> FleetTables | None:
    """The tables of an earlier call; None where there are none.

    Raises:
      InputError: The file is something else.
    """
    try:
        runs, causes = _read(path), _read(causes_file(path))
    except FileNotFoundError:
        return None
    for table, target in ((runs, path), (causes, causes_file(path))):
        if table is None or _MARK not in (table.schema.metadata or {}):
            raise InputError(f"'{target}' isn't a file of tbslow fleet; give another -o FILE")
    if not all(table.schema.metadata[_MARK] == str(SCHEMA).encode() for table in (runs, causes)):
        return None  # all runs are judged again
    return FleetTables(_fit(runs, RUN_COLUMNS), _fit(causes, CAUSE_COLUMNS))


def _read(path: str) -> Any:
    parquet = import_extra("pyarrow.parquet")
    try:
        if "://" in path:
            with import_extra("fsspec").open(path, "rb") as file:
                return parquet.read_table(file)
        return parquet.read_table(path)
    except FileNotFoundError:
        raise
    except (OSError, ValueError):  # ArrowInvalid is a ValueError
        return None


def _fit(table: Any, columns: Sequence[Column]) -> Any:
    """A table of the same schema with columns that were added since, which are empty."""
    pyarrow = import_extra("pyarrow")
    schema = _schema(columns)
    found = [
        table.column(field.name).cast(field.type)
        if field.name in table.column_names
        else pyarrow.nulls(len(table), field.type)
        for field in schema
    ]
    return pyarrow.Table.from_arrays(found, schema=schema)


def still_known(tables: FleetTables, stored: Sequence[StoredRun]) -> tuple[FleetTables, set[int]]:
    """The rows of runs that have not changed, and which of `stored` these are (by place).

    A run that could not be read is not known, nor is one that another version judged.
    """
    pyarrow = import_extra("pyarrow")
    names = ("logdir", "folder", "version", "tbslow", "status")
    columns = [tables.runs.column(name).to_pylist() for name in names]
    rows: dict[tuple[str, str, str], list[int]] = {}
    for place, (logdir, folder, version, judged_by, status) in enumerate(
        zip(*columns, strict=True)
    ):
        if judged_by == __version__ and status != "unreadable":
            rows.setdefault((logdir, folder, version), []).append(place)
    known: set[int] = set()
    kept: list[int] = []
    for place, each in enumerate(stored):
        found = rows.get((each.logdir, each.name, each.version))
        if found:
            known.add(place)
            kept.extend(found)
    runs = tables.runs.take(pyarrow.array(kept, pyarrow.int64()))
    keys = runs.select(["logdir", "run"])
    causes = tables.causes.join(keys, ["logdir", "run"], join_type="left semi")
    return FleetTables(runs, causes.select([column.name for column in CAUSE_COLUMNS])), known


def _schema(columns: Sequence[Column]) -> Any:
    pyarrow = import_extra("pyarrow")
    types: dict[Kind, Any] = {
        "text": pyarrow.string(),
        "whole": pyarrow.int64(),
        "number": pyarrow.float64(),
        "flag": pyarrow.bool_(),
        "time": pyarrow.timestamp("us", tz="UTC"),
        "date": pyarrow.date32(),
    }
    fields = [pyarrow.field(column.name, types[column.kind]) for column in columns]
    return pyarrow.schema(fields, metadata={_MARK: str(SCHEMA)})


def since_date(text: str) -> float:
    """Unix seconds of a date, or of a date and a time, in UTC where it names no zone.

    >>> since_date("2026-11-01")
    1793491200.0
    """
    when = datetime.datetime.fromisoformat(text)
    if when.tzinfo is None:
        when = when.replace(tzinfo=datetime.timezone.utc)
    return when.timestamp()
