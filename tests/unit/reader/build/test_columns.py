import tracemalloc

import numpy as np
import pytest

from tb_slowdown_plugin.reader.build.columns import FoldingColumns, GrowingColumns


def test_rows_are_appended_across_every_growth() -> None:
    columns = GrowingColumns()
    for first in range(0, 5000, 7):
        columns.append(7, {"x": np.arange(first, first + 7)}, 0.0)
    np.testing.assert_array_equal(columns.view("x"), np.arange(columns.rows))
    assert columns.view("x").dtype == np.int64


def test_a_column_seen_late_or_left_out_gets_what_absent_says() -> None:
    columns = GrowingColumns()
    columns.append(2, {"a": np.array([1.0, 2.0])}, np.nan)
    columns.append(1, {"b": np.array([3.0])}, np.nan)
    np.testing.assert_array_equal(columns.view("a"), [1.0, 2.0, np.nan])
    np.testing.assert_array_equal(columns.view("b"), [np.nan, np.nan, 3.0])


def test_a_view_never_changes_when_rows_come_after_it() -> None:
    columns = GrowingColumns()
    columns.append(3, {"a": np.array([1.0, 2.0, 3.0])}, 0.0)
    view = columns.view("a")
    for _ in range(2000):
        columns.append(1, {"a": np.array([9.0])}, 0.0)
    np.testing.assert_array_equal(view, [1.0, 2.0, 3.0])


def test_a_view_refuses_to_be_written() -> None:
    columns = GrowingColumns()
    columns.append(1, {"a": np.array([1.0])}, 0.0)
    with pytest.raises(ValueError, match="read-only"):
        columns.view("a")[0] = 2.0


def test_bytes_count_rows_not_reserve() -> None:
    columns = GrowingColumns()
    columns.append(3, {"a": np.arange(3.0), "b": np.arange(3)}, 0.0)
    assert columns.nbytes == 48


def test_a_column_of_one_value_takes_no_memory_until_another_comes():
    columns = GrowingColumns()
    for _ in range(3):
        columns.append(2, {"kind": np.zeros(2, np.int64), "items": np.full(2, np.nan)}, np.nan)
    assert columns.nbytes == 0
    before = columns.views()
    assert before["kind"].dtype == np.int64
    columns.append(1, {"kind": np.ones(1, np.int64), "items": np.array([32.0])}, np.nan)
    assert columns.nbytes == 2 * 7 * 8
    np.testing.assert_array_equal(columns.view("kind"), [0, 0, 0, 0, 0, 0, 1])
    np.testing.assert_array_equal(columns.view("items"), [*[np.nan] * 6, 32.0])
    np.testing.assert_array_equal(before["kind"], np.zeros(6))
    np.testing.assert_array_equal(before["items"], np.full(6, np.nan))


def test_a_column_of_one_value_that_is_left_out_later():
    columns = GrowingColumns()
    columns.append(2, {"a": np.full(2, 7.0), "b": np.zeros(2)}, 0.0)
    columns.append(2, {}, 0.0)
    columns.append(1, {"c": np.zeros(1)}, 0.0)
    np.testing.assert_array_equal(columns.view("a"), [7, 7, 0, 0, 0])
    np.testing.assert_array_equal(columns.view("b"), np.zeros(5))
    np.testing.assert_array_equal(columns.view("c"), np.zeros(5))
    assert columns.nbytes == 40


def test_a_constant_refuses_to_be_written():
    columns = GrowingColumns()
    columns.append(2, {"a": np.full(2, 7.0)}, 0.0)
    with pytest.raises(ValueError, match="read-only"):
        columns.view("a")[0] = 2.0


def test_columns_without_a_row_are_there():
    columns = GrowingColumns()
    columns.append(0, {"number": np.empty(0, np.int64), "items": np.empty(0)}, np.nan)
    assert columns.views().keys() == {"number", "items"}
    columns.append(2, {"number": np.array([4, 4]), "items": np.array([1.0, 2.0])}, np.nan)
    np.testing.assert_array_equal(columns.view("number"), [4, 4])
    np.testing.assert_array_equal(columns.view("items"), [1.0, 2.0])
    assert columns.nbytes == 16


def ones(rows):
    return np.ones(rows)


def test_a_column_that_comes_among_rows_without_a_group_keeps_its_place() -> None:
    columns = FoldingColumns({}, "sum", 0.0)
    columns.append(4, {"a": ones(4)})
    columns.widen(4)
    columns.append(5, {"a": ones(5)})
    columns.append(2, {"a": ones(2), "late": 10 * ones(2)})
    columns.widen(8)
    columns.append(5, {"a": ones(5)})
    assert {name: column.tolist() for name, column in columns.views().items()} == {
        "a": [8.0, 8.0],
        "late": [0.0, 20.0],
    }


def test_wider_rows_take_little_memory_beside_the_columns() -> None:
    columns = FoldingColumns({}, "sum", 0.0)
    rows, names = 1 << 16, [f"column {number}" for number in range(20)]
    columns.append(rows, {name: np.arange(float(rows)) for name in names})
    tracemalloc.start()
    columns.widen(2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # What is made is half as large twice, and one column whole; the old columns were there before.
    assert peak < 1.25 * len(names) * rows * 8
    assert columns.views()[names[0]][:2].tolist() == [1.0, 5.0]
