"""Whatever a series looks like: its cut into pieces ends, and the pieces cover it."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_slowdown_plugin.analysis.stats.buckets import bucket
from tb_slowdown_plugin.analysis.stats.change_points import segment
from tb_slowdown_plugin.analysis.stats.trend import fit_trend

level = st.floats(-1.5, 1.5)
stretch = st.tuples(st.integers(1, 90), level, level)
"""(buckets, logarithm at its beginning, at its end)"""


@st.composite
def patchworks(draw):
    """Levels, slopes and pulses one after another, with noise of any size, some of it slow."""
    parts = draw(st.lists(stretch, min_size=1, max_size=9))
    shape = np.concatenate([np.linspace(first, end, count) for count, first, end in parts])
    random = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    noise = random.normal(0, draw(st.sampled_from([0.0, 0.01, 0.05, 0.3])), len(shape))
    walk = np.cumsum(random.normal(0, draw(st.sampled_from([0.0, 0.0, 0.02])), len(shape)))
    return shape + noise + walk


@settings(max_examples=150, deadline=None)
@given(patchworks(), st.sampled_from([5.0, 6.0]))
def test_pieces_cover_the_series(values, significance):
    cut = segment(values, significance)
    assert cut.pieces[0].first == 0
    assert cut.pieces[-1].end == len(values)
    for left, right in zip(cut.pieces, cut.pieces[1:], strict=False):
        assert left.end == right.first


@settings(max_examples=100, deadline=None)
@given(patchworks(), st.integers(1, 9))
def test_the_edges_of_a_trend_ascend_and_its_level_is_positive(values, repeats):
    rows = np.repeat(values, repeats)
    trend = fit_trend(bucket(rows), rows, 6.0)
    assert (np.diff(trend.edges) >= 0).all()
    assert trend.edges[-1] == len(rows)
    assert (trend.level > 0).all()
    for rise in trend.rises:
        assert (rise.height >= 0).all()
