"""A remote logdir through fsspec: listings, copies, and requests that fail."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.spec import AbstractFileSystem

from tb_slowdown_plugin.reader.object_store import ObjectStore, StoredFile, _stored


class Refusing(MemoryFileSystem):  # type: ignore[misc]
    """memory:// that refuses as many requests as `left` says."""

    protocol = "refusing"
    store = MemoryFileSystem.store
    pseudo_dirs = MemoryFileSystem.pseudo_dirs
    left = 0
    reason = "503 Slow Down"

    @classmethod
    def _strip_protocol(cls, path: str) -> Any:
        return super()._strip_protocol(path.replace("refusing://", "memory://"))

    def _refuse(self) -> None:
        if Refusing.left:
            Refusing.left -= 1
            raise RuntimeError(Refusing.reason)

    def find(self, *args: Any, **kwargs: Any) -> Any:
        self._refuse()
        return super().find(*args, **kwargs)

    def get_file(self, *args: Any, **kwargs: Any) -> Any:
        self._refuse()
        return super().get_file(*args, **kwargs)


@pytest.fixture
def store() -> Iterator[ObjectStore]:
    fsspec.register_implementation("refusing", Refusing, clobber=True)
    memory = fsspec.filesystem("memory")
    memory.pipe({"/stored/logs/a/x": b"12", "/stored/logs/b": b"3", "/stored/logs2/c": b"4"})
    Refusing.left = 0
    yield ObjectStore("refusing://stored/logs", rest=rests.append)
    memory.rm("/stored", recursive=True)
    rests.clear()


rests: list[float] = []


def stored(name: str, size: int) -> StoredFile:
    return StoredFile(name, size, 0.0, "")


def test_a_few_directories_at_the_top_are_listed_apart(store: ObjectStore) -> None:
    memory = fsspec.filesystem("memory")
    memory.rm("/stored/logs/b")
    memory.pipe({f"/stored/logs/{number}/x": b"1" for number in range(3)})
    assert [file.name for file in store.list_files()] == ["0/x", "1/x", "2/x", "a/x"]
    assert [file.name for file in store.list_files(lambda name: name > "1")] == [
        "1/x",
        "2/x",
        "a/x",
    ]


def test_nothing_there() -> None:
    assert ObjectStore("memory://stored/nothing").list_files() == []


def test_files_are_listed_by_name_with_their_sizes(store: ObjectStore) -> None:
    assert [(file.name, file.size) for file in store.list_files()] == [("a/x", 2), ("b", 1)]
    assert all(file.modified > 0 for file in store.list_files())


def test_the_stamp_changes_with_the_file(store: ObjectStore) -> None:
    before = {file.name: file.stamp for file in store.list_files()}
    fsspec.filesystem("memory").pipe({"/stored/logs/b": b"33"})
    after = {file.name: file.stamp for file in store.list_files()}
    assert before["a/x"] == after["a/x"]
    assert before["b"] != after["b"]


def test_a_copy_has_the_same_name_and_bytes(store: ObjectStore, tmp_path: Path) -> None:
    store.copy(stored("a/x", 2), tmp_path)
    assert (tmp_path / "a" / "x").read_bytes() == b"12"


def test_a_refused_request_is_made_again_with_longer_rests(
    store: ObjectStore, tmp_path: Path
) -> None:
    Refusing.left = 3
    assert len(store.list_files()) == 2
    assert rests == pytest.approx([0.2, 0.4, 0.8])
    Refusing.left = 1
    store.copy(stored("b", 1), tmp_path)
    assert (tmp_path / "b").read_bytes() == b"3"


def test_a_request_that_is_always_refused_fails_with_the_reason(store: ObjectStore) -> None:
    Refusing.left = 100
    with pytest.raises(OSError, match="503 Slow Down"):
        store.list_files()
    assert 100 - Refusing.left == 6
    assert sum(rests) == pytest.approx(6.2)


def test_a_file_that_is_gone_is_not_asked_for_again(store: ObjectStore, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        store.copy(stored("gone", 1), tmp_path)
    assert rests == []


def test_an_unknown_file_system() -> None:
    with pytest.raises(ValueError, match="nosuch"):
        ObjectStore("nosuch://logs")


def test_a_copy_with_fewer_bytes_than_listed_is_asked_for_again(
    store: ObjectStore, tmp_path: Path
) -> None:
    with pytest.raises(OSError, match="b came with fewer bytes than its listing says"):
        store.copy(stored("b", 2), tmp_path)
    assert len(rests) == 5
    store.copy(stored("b", 0), tmp_path)  # it has grown since


@pytest.mark.parametrize(
    ("info", "modified"),
    [
        ({"LastModified": datetime(2026, 11, 1, tzinfo=timezone.utc), "ETag": "a"}, 1793491200.0),
        ({"updated": "2026-11-01T00:00:00.500Z"}, 1793491200.5),
        ({"modificationTime": 1793491200500}, 1793491200.5),
        ({"mtime": 1793491200.25}, 1793491200.25),
        ({"updated": "yesterday"}, 0.0),
        ({}, 0.0),
    ],
)
def test_each_storage_has_its_name_for_the_time(info: dict[str, Any], modified: float) -> None:
    assert _stored("x", {"size": 3, **info}).modified == modified


def test_what_a_listing_tells_nothing_of_is_never_unchanged() -> None:
    assert _stored("x", {"size": None}).stamp != _stored("x", {"size": None}).stamp
    assert _stored("x", {"size": 3}).stamp == _stored("x", {"size": 3}).stamp
    assert _stored("x", {"size": 3}).stamp != _stored("x", {"size": 4}).stamp


class Walking(MemoryFileSystem):  # type: ignore[misc]
    """memory:// of which each third listing is refused, directory by directory."""

    protocol = "walking"
    find = AbstractFileSystem.find
    store = MemoryFileSystem.store
    pseudo_dirs = MemoryFileSystem.pseudo_dirs
    asked = 0

    @classmethod
    def _strip_protocol(cls, path: str) -> Any:
        return super()._strip_protocol(path.replace("walking://", "memory://"))

    def ls(self, *args: Any, **kwargs: Any) -> Any:
        Walking.asked += 1
        if Walking.asked % 3 == 0:
            raise OSError("503 Busy")
        return super().ls(*args, **kwargs)


def test_no_directory_is_left_out_where_listings_are_refused(store: ObjectStore) -> None:
    fsspec.register_implementation("walking", Walking, clobber=True)
    memory = fsspec.filesystem("memory")
    memory.pipe({f"/stored/logs/{one}/{two}/x": b"1" for one in "cd" for two in "123"})
    walking = ObjectStore("walking://stored/logs", rest=rests.append)
    assert [file.name for file in walking.list_files()] == [
        "a/x", "b", "c/1/x", "c/2/x", "c/3/x", "d/1/x", "d/2/x", "d/3/x",
    ]  # fmt: skip
    assert len(rests) >= 4


def test_what_hdfs_goes_through_is_listed_and_copied(tmp_path: Path) -> None:
    """fsspec's `hdfs://` is pyarrow's file system in this wrapper, there with Hadoop's client."""
    local = pytest.importorskip("pyarrow.fs").LocalFileSystem
    from fsspec.implementations.arrow import ArrowFSWrapper

    class ArrowLocal(ArrowFSWrapper):  # type: ignore[misc]
        def __init__(self, **options: Any) -> None:
            super().__init__(local(), **options)

    fsspec.register_implementation("arrowlocal", ArrowLocal, clobber=True)
    for name in ("logs/a/x", "logs/a/deep/er/y", "logs/b/z"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    through_arrow = ObjectStore(f"arrowlocal://{tmp_path}/logs")
    listed = through_arrow.list_files()
    assert [(file.name, file.size) for file in listed] == [
        ("a/deep/er/y", 16),
        ("a/x", 8),
        ("b/z", 8),
    ]
    written = (tmp_path / "logs" / "b" / "z").stat().st_mtime
    assert listed[-1].modified == pytest.approx(written, abs=1e-3)
    through_arrow.copy(listed[0], tmp_path / "copy")
    assert (tmp_path / "copy" / "a" / "deep" / "er" / "y").read_text() == "logs/a/deep/er/y"
    assert ObjectStore(f"arrowlocal://{tmp_path}/none").list_files() == []
