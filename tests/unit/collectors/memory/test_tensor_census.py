"""How many tensors are alive, and of which shapes."""

from __future__ import annotations

import gc

import pytest

tf = pytest.importorskip("tensorflow")

from tb_slowdown_plugin.collectors.memory import tensor_census  # noqa: E402
from tb_slowdown_plugin.collectors.memory.tensor_census import take_census  # noqa: E402

pytestmark = pytest.mark.tensorflow
EAGER = type(tf.constant(1))
ODD = (7, 11, 3)


def group_of(census):
    return next((each for each in census.groups if each.kind == f"float32 {ODD}"), None)


def test_tensors_are_counted_by_type_and_shape() -> None:
    gc.collect()  # of what other tests left, nothing goes meanwhile
    before = take_census(EAGER)
    assert group_of(before) is None
    kept = [tf.zeros(ODD) for _ in range(9)]
    census = take_census(EAGER)
    group = group_of(census)
    assert (group.count, group.size_bytes) == (9, 9 * 7 * 11 * 3 * 4)
    assert census.count >= before.count + 9
    assert 1 <= len(group.samples) <= 5
    assert census.groups[0].size_bytes == max(each.size_bytes for each in census.groups)
    del kept


def test_a_variable_is_no_tensor_that_stays_alive() -> None:
    variable = tf.Variable(tf.zeros(ODD))
    kinds = {each.kind for each in take_census(EAGER).groups}
    assert not any(kind.startswith("resource") for kind in kinds)
    del variable


def test_tensors_are_counted_by_shape_and_dtype_the_largest_first():
    gc.collect()
    before = take_census(EAGER)
    kept = [
        *(tf.zeros((101, 7)) for _ in range(30)),
        *[tf.zeros((103,), tf.int64) for _ in range(20)],
    ]
    census = take_census(EAGER)
    assert census.count - before.count == 50
    assert census.size_bytes - before.size_bytes == 30 * 101 * 7 * 4 + 20 * 103 * 8
    found = {group.kind: (group.count, group.size_bytes) for group in census.groups}
    assert found["float32 (101, 7)"] == (30, 30 * 101 * 7 * 4)
    assert found["int64 (103,)"] == (20, 20 * 103 * 8)
    sizes = [group.size_bytes for group in census.groups]
    assert sizes == sorted(sizes, reverse=True)
    assert len(kept) == 50


def test_variables_are_not_tensors():
    before = take_census(EAGER).count
    variable = tf.Variable(tf.zeros((104, 3)))
    assert take_census(EAGER).count == before
    assert variable.shape == (104, 3)


def test_of_very_many_a_part_stands_for_the_whole(monkeypatch):
    kept = [tf.zeros((109,)) for _ in range(3_000)]
    monkeypatch.setattr(tensor_census, "_LOOKED_AT", 500)
    group = next(each for each in take_census(EAGER).groups if each.kind == "float32 (109,)")
    assert group.count == pytest.approx(len(kept), rel=0.02)
