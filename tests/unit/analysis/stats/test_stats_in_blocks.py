"""What is computed some at a time for speed says the same one at a time, to the last digit."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.stats import buckets
from tb_slowdown_plugin.analysis.stats import change_points as changes
from tb_slowdown_plugin.analysis.stats.buckets import bounded_means


@pytest.mark.parametrize("count", [60, 333, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_a_series_is_cut_alike(monkeypatch: pytest.MonkeyPatch, count: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    values = random.normal(0.0, 0.02, count) + 0.3 * (np.arange(count) > count // 2)
    values[: count // 4] += np.linspace(0.4, 0.0, count // 4)
    found = {}
    for at_once in (1, 16, 1000):
        monkeypatch.setattr(changes, "_ENDS_AT_ONCE", at_once)
        found[at_once] = changes.segment(values)
    assert len(found[1].pieces) >= 2
    assert found[1].pieces == found[16].pieces == found[1000].pieces


@pytest.mark.parametrize("by", ["median", "mean"])
def test_buckets_hold_the_same(monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    series = np.random.default_rng(5).gamma(2.0, 1.0, 100_003)
    found = {}
    for at_once in (1, 16, 5000):
        monkeypatch.setattr(buckets, "_AT_ONCE", at_once)
        made = buckets.bucket(series, 7, by=by)
        found[at_once] = np.concatenate([made.values, bounded_means(made, series)])
    assert np.isfinite(found[1]).all()
    np.testing.assert_array_equal(found[1], found[16])
    np.testing.assert_array_equal(found[1], found[5000])
