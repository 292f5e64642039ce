"""The fixes for garbage collection: the call that forces it, or fewer objects to visit."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.analysis.causes.memory.garbage_collection_fixes import Collections, advise


@pytest.mark.parametrize(
    ("collections", "begins"),
    [
        (Collections(("train.py:9",)), ["Remove `gc.collect()` at train.py:9"]),
        (
            Collections(sessions=("train.py:9",)),
            ["Call `tf.keras.backend.clear_session()` at train.py:9 only before"],
        ),
        (
            Collections(periodic=True),
            ["Look for a `gc.collect()` call", "Freeze", "Collect at a time", "Keep fewer"],
        ),
        (Collections(full=False), ["Collect at a time"]),
    ],
    ids=["called", "by a cleared session", "as if called", "young ones only"],
)
def test_each_fix_stands_where_it_helps(collections, begins):
    texts = [each.text for each in advise(collections)]
    assert [text[: len(begin)] for text, begin in zip(texts, begins, strict=True)] == begins
