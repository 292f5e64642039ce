"""The import of TensorFlow is noticed, and no trace of the watch is left."""

from __future__ import annotations

import importlib
import sys
import traceback
from pathlib import Path

import pytest

from tb_slowdown_plugin.writer.launch import import_watch


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for modules that are called as TensorFlow and Keras."""
    for name in ("tensorflow", "keras", "tf_keras"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return tmp_path


def watch() -> list[bool]:
    """What is appended to when the watch is over."""
    begun: list[bool] = []
    import_watch.watch_import(lambda: begun.append("tensorflow" in sys.modules))
    return begun


def test_it_begins_once_after_the_import_and_leaves_no_trace(modules: Path) -> None:
    (modules / "tensorflow.py").write_text("VALUE = 1\n")
    before = list(sys.meta_path)
    begun = watch()
    import json  # noqa: F401

    assert len(sys.meta_path) == len(before) + 1
    assert begun == []
    module = importlib.import_module("tensorflow")
    assert begun == [True]
    assert sys.meta_path == before
    assert vars(module.__loader__).keys() == {"name", "path"}
    assert module.VALUE == 1


def test_keras_is_waited_for_where_it_imports_tensorflow(modules: Path) -> None:
    (modules / "tensorflow.py").write_text("")
    (modules / "keras.py").write_text("import tensorflow\nseen = list(begun)\n")
    begun = watch()
    import builtins

    builtins.begun = begun  # type: ignore[attr-defined]
    try:
        keras = importlib.import_module("keras")
    finally:
        del builtins.begun  # type: ignore[attr-defined]
    assert keras.seen == []
    assert begun == [True]


def test_keras_without_tensorflow_begins_nothing(modules: Path) -> None:
    (modules / "keras.py").write_text("")
    begun = watch()
    importlib.import_module("keras")
    assert begun == []


def test_an_import_that_fails_shows_no_frame_of_ours_and_may_be_tried_again(modules: Path) -> None:
    (modules / "tensorflow.py").write_text("raise ImportError('no libfoo.so')\n")
    begun = watch()
    with pytest.raises(ImportError, match=r"no libfoo\.so") as caught:
        importlib.import_module("tensorflow")
    if sys.version_info >= (3, 11):
        files = {frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)}
        assert import_watch.__file__ not in files
    (modules / "tensorflow.py").write_text("")
    importlib.invalidate_caches()
    importlib.import_module("tensorflow")
    assert begun == [True]


def test_what_is_imported_already_begins_at_once(modules: Path) -> None:
    (modules / "tensorflow.py").write_text("")
    importlib.import_module("tensorflow")
    assert watch() == [True]
