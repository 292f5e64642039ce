"""A series in buckets of rows, and a signal as it is sampled."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.stats.buckets import (
    Samples,
    bucket,
    in_turn,
    quantile_by_steps,
    sum_between,
)


@pytest.mark.parametrize(
    ("rows", "width", "count"), [(240, 8, 30), (100, 4, 25), (20, 1, 20), (1_024_000, 1000, 1024)]
)
def test_buckets_are_as_narrow_as_their_number_allows(rows: int, width: int, count: int) -> None:
    made = bucket(np.arange(float(rows)))
    assert (made.width, len(made.values)) == (width, count)


def test_a_median_forgets_an_outlier_and_a_mean_does_not() -> None:
    series = np.ones(240)
    series[3] = 81.0
    assert bucket(series).values[0] == 1.0
    assert bucket(series, by="mean").values[0] == 11.0


def test_a_bucket_stands_for_its_rows() -> None:
    made = bucket(np.arange(250.0), start=8)
    assert [made.row(0), made.row(1)] == [8, 16]
    assert made.values[1] == np.median(np.arange(16, 24))
    assert made.blocks(np.arange(250.0))[1].tolist() == list(range(16, 24))
    spread = made.spread(np.arange(30.0), 242)
    assert (spread[8], spread[-1], len(spread)) == (1.0, 29.0, 242)


def test_pieces_in_turn_cover_all_buckets_once() -> None:
    covered = [index for some in in_turn(40) for index in range(40)[some]]
    assert covered == list(range(40))


def test_samples_are_unknown_between_their_rows() -> None:
    spread = Samples(np.array([1, 3]), np.array([0.5, 0.75])).spread(5)
    assert np.isnan(spread[[0, 2, 4]]).all()
    assert spread[[1, 3]].tolist() == [0.5, 0.75]


def test_sums_and_quantiles_count_steps() -> None:
    assert sum_between(np.ones(10), np.array([0, 4, 9])).tolist() == [4.0, 5.0]
    assert quantile_by_steps(np.array([1.0, 2.0, 3.0]), np.array([1, 1, 8]), 0.5) == 3.0
