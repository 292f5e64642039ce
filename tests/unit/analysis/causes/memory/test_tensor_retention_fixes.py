"""The fixes for kept tensors: each where the record says that it helps."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.analysis.causes.memory.tensor_retention_fixes import Retention, advise


@pytest.mark.parametrize(
    ("retention", "begins"),
    [
        (Retention(tape=True), ["Open one `tf.GradientTape`"]),
        (Retention(listed=True), ["Store floats"]),
        (Retention(listed=False), ["Keep a window"]),
        (Retention(), ["Keep a window", "Store floats"]),
    ],
    ids=["a tape", "more tensors", "larger ones", "not known"],
)
def test_each_fix_stands_where_it_helps(retention, begins):
    texts = [each.text for each in advise(retention)]
    assert [text[: len(begin)] for text, begin in zip(texts, begins, strict=True)] == begins


def test_a_place_that_is_known_is_where_to_look():
    (window,) = advise(Retention(listed=False, place="Log.add (train.py:9)"))
    assert window.where == "in `Log.add (train.py:9)`"
