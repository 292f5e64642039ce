"""A remote logdir through fsspec: listings, copies, and requests that fail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from tb_slowdown_plugin.reader.object_store import ObjectStore


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
    store.copy("a/x", tmp_path)
    assert (tmp_path / "a" / "x").read_bytes() == b"12"


def test_a_refused_request_is_made_again_with_longer_rests(
    store: ObjectStore, tmp_path: Path
) -> None:
    Refusing.left = 3
    assert len(store.list_files()) == 2
    assert rests == pytest.approx([0.2, 0.4, 0.8])
    Refusing.left = 1
    store.copy("b", tmp_path)
    assert (tmp_path / "b").read_bytes() == b"3"


def test_a_request_that_is_always_refused_fails_with_the_reason(store: ObjectStore) -> None:
    Refusing.left = 100
    with pytest.raises(OSError, match="503 Slow Down"):
        store.list_files()
    assert 100 - Refusing.left == 6
    assert sum(rests) == pytest.approx(6.2)


def test_a_file_that_is_gone_is_not_asked_for_again(store: ObjectStore, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        store.copy("gone", tmp_path)
    assert rests == []


def test_an_unknown_file_system() -> None:
    with pytest.raises(ValueError, match="nosuch"):
        ObjectStore("nosuch://logs")
