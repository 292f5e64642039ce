"""Samples of a signal, by the rows of the steps that they have seen."""

import numpy as np

from tb_slowdown_plugin.analysis.prepare.recorded_run import samples_of
from tb_slowdown_plugin.analysis.prepare.steps import as_samples


def test_of_samples_in_one_row_the_last_counts(make_run):
    run = make_run(
        np.full(10, 0.01),
        signals={"rss_bytes": [1.0, 2.0, 3.0, np.nan, 4.0, 5.0]},
        signal_rows=[0, 3, 3, 5, 2, 12],
    )
    samples = samples_of(run, "rss_bytes")
    assert samples.rows.tolist() == [0, 1, 2, 9]
    assert samples.values.tolist() == [1.0, 4.0, 3.0, 5.0]
    spread = samples.spread(10)
    assert np.flatnonzero(np.isfinite(spread)).tolist() == [0, 1, 2, 9]
    assert as_samples("rss_bytes", spread, 10).values.tolist() == samples.values.tolist()
