"""Medians and quantiles are those of numpy to the last digit, however long the series is."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.stats import quantiles as module
from tb_slowdown_plugin.analysis.stats.quantiles import median, quantiles

SHARES = (0.0, 0.1, 0.5, 0.9, 0.995, 1.0)


def series(kind: str, size: int) -> np.ndarray:
    random = np.random.default_rng(size)
    values = {
        "normal": random.normal(0.01, 0.001, size),
        "ties": np.rint(random.gamma(2.0, 5.0, size)),
        "mostly zero": np.where(random.random(size) < 0.01, random.random(size), 0.0),
        "rising": np.linspace(0.0, 1.0, size),
        "alike": np.full(size, 0.25),
        "two levels": np.where(np.arange(size) < size // 2, 1.0, 3.0),
    }
    return values[kind]


@pytest.mark.parametrize("size", [1, 2, 3, 4096, 4097, 50_001, 131_072])
@pytest.mark.parametrize("kind", ["normal", "ties", "mostly zero", "rising", "alike", "two levels"])
def test_they_are_those_of_numpy(kind: str, size: int) -> None:
    values = series(kind, size)
    kept = values.copy()
    assert median(values) == np.median(values)
    assert quantiles(values, SHARES) == np.quantile(values, SHARES).tolist()
    np.testing.assert_array_equal(values, kept)


@pytest.mark.parametrize("size", [5, 60_000])
def test_an_unknown_value_leaves_them_unknown(size: int) -> None:
    values = np.ones(size)
    values[size // 3] = np.nan
    assert np.isnan(median(values))
    assert np.isnan(quantiles(values, (0.1, 0.9))).all()


def test_a_sample_that_misleads_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.arange(60_000.0)
    monkeypatch.setattr(module, "_bounds", lambda sample, share: (0.0, 10.0))
    assert median(values) == 29_999.5
    assert quantiles(values, (0.5,)) == [29_999.5]
