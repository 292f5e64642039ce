import numpy as np
import pytest

from tb_slowdown_plugin.reader.columns import GrowingColumns


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
    columns.append(3, {"a": np.zeros(3), "b": np.zeros(3, np.int64)}, 0.0)
    assert columns.nbytes == 48
