"""The tables of a fleet: order, files, what is known from an earlier call."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from unit.report.fleet.fleets import small_fleet

from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.reader.object_store import StoredFile
from tb_slowdown_plugin.reader.stored_runs import StoredRun
from tb_slowdown_plugin.report.fleet import tables as module
from tb_slowdown_plugin.report.fleet.columns import CAUSE_COLUMNS, RUN_COLUMNS
from tb_slowdown_plugin.report.fleet.tables import (
    causes_file,
    import_extra,
    join_tables,
    make_tables,
    name_teams,
    read_tables,
    still_known,
    write_tables,
)


def test_rows_are_sorted_and_have_all_columns() -> None:
    fleet = small_fleet()
    assert fleet.runs.column_names == [column.name for column in RUN_COLUMNS]
    assert fleet.causes.column_names == [column.name for column in CAUSE_COLUMNS]
    names = ["e", "nlp/a", "nlp/b", "vision/c", "vision/d"]
    assert fleet.runs.column("run").to_pylist() == names
    ranks = zip(
        fleet.causes.column("run").to_pylist(), fleet.causes.column("rank").to_pylist(), strict=True
    )
    assert list(ranks) == [
        ("nlp/a", 1), ("nlp/a", 2), ("nlp/a", 3), ("nlp/b", 1), ("nlp/b", 2)
    ]  # fmt: skip


def test_files_come_back_and_are_the_same_bytes_each_time(tmp_path: Path) -> None:
    path = str(tmp_path / "fleet.parquet")
    write_tables(small_fleet(), path)
    first = Path(path).read_bytes(), Path(causes_file(path)).read_bytes()
    found = read_tables(path)
    assert found is not None
    assert found.runs.equals(small_fleet().runs)
    assert found.causes.equals(small_fleet().causes)
    write_tables(found, path)
    assert (Path(path).read_bytes(), Path(causes_file(path)).read_bytes()) == first
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "fleet.causes.parquet",
        "fleet.parquet",
    ]


def test_an_address_is_written_and_read(tmp_path: Path) -> None:
    write_tables(small_fleet(), "memory://fleet/fleet.parquet")
    found = read_tables("memory://fleet/fleet.parquet")
    assert found is not None
    assert found.runs.equals(small_fleet().runs)


def test_no_file_and_a_foreign_file(tmp_path: Path) -> None:
    path = tmp_path / "fleet.parquet"
    assert read_tables(str(path)) is None
    for file in (path, tmp_path / "fleet.causes.parquet"):
        file.write_text("what I have written")
    with pytest.raises(InputError, match="isn't a file of tbslow fleet"):
        read_tables(str(path))
    pyarrow, parquet = import_extra("pyarrow"), import_extra("pyarrow.parquet")
    for file in (path, tmp_path / "fleet.causes.parquet"):
        parquet.write_table(pyarrow.table({"a": [1]}), file)
    with pytest.raises(InputError, match="isn't a file of tbslow fleet"):
        read_tables(str(path))


def test_files_of_another_schema_are_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "fleet.parquet")
    write_tables(small_fleet(), path)
    monkeypatch.setattr(module, "SCHEMA", 2)
    assert read_tables(path) is None


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't write"):
        write_tables(small_fleet(), str(tmp_path / "nope" / "fleet.parquet"))


def stored(name: str, version: str = "") -> StoredRun:
    class Fixed(StoredRun):
        @property
        def version(self) -> str:
            return version or f"v-{name}"

    return Fixed("logs", name, (StoredFile(f"{name}/events", 1, 0.0, "1"),))


def test_only_what_is_unchanged_and_was_readable_is_known() -> None:
    runs = [
        stored("nlp/a"),
        stored("nlp/b", "other"),
        stored("vision/d"),
        stored("e"),
        stored("new"),
    ]
    kept, known = still_known(small_fleet(), runs)
    assert known == {0, 3}
    assert sorted(kept.runs.column("run").to_pylist()) == ["e", "nlp/a"]
    assert kept.causes.column("run").to_pylist() == ["nlp/a"] * 3
    again = join_tables([make_tables([], []), kept])
    assert again.causes.schema.equals(small_fleet().causes.schema)


def test_a_run_that_another_version_judged_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    fleet = small_fleet()
    monkeypatch.setattr(module, "__version__", "99")
    assert still_known(fleet, [stored("nlp/a")])[1] == set()


def test_teams_by_an_expression() -> None:
    found = name_teams(small_fleet(), re.compile("/(.)"))
    assert found.runs.column("team").to_pylist() == [None, "a", "b", "c", "d"]


def test_a_missing_package_is_named_with_the_remedy() -> None:
    with pytest.raises(InputError, match=re.escape("pip install 'tb-slowdown-plugin[fleet]'")):
        import_extra("nosuchpackage.part")
