"""Samples of a signal, by the rows of the steps that they have seen."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.function_traces import traced_graphs
from tb_slowdown_plugin.analysis.prepare.recorded_run import measured_seconds, samples_of
from tb_slowdown_plugin.analysis.prepare.steps import as_samples
from tb_slowdown_plugin.records.types import Change, Epoch, Trace


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


SIZE, EACH = 600, 150


def setup_of_models(make_run, account, *, before_all):
    """Fits of 24 epochs with a model of its own each; its seconds once before each, or later."""
    spent = np.zeros(SIZE)
    models = range(EACH, SIZE, EACH)
    spent[[row if before_all else row + 40 for row in models]] = 0.3
    change = Change(
        "model", "python_object", "Functional object", "Functional object, a new object"
    )
    made = [
        (row, Trace(2, "Keras train step", "train.py:9", 0.5, 0.1, "new_object", changes=(change,)))
        for row in models
    ]
    first = (0, Trace(1, "Keras train step", "train.py:9", 0.5, 0.1, "first"))
    epochs = [(row, Epoch(row // 2)) for row in range(0, SIZE, 2)]
    events = sorted([first, *made, *epochs], key=lambda event: event[0])
    run = make_run(np.full(SIZE, 0.01) + spent, accounts={account: spent}, events=events)
    return measured_seconds(run, traced_graphs(run))


@pytest.mark.parametrize("account", ["optimizer_creation", "clear_session:search.py:64", "gc"])
def test_what_comes_with_each_new_model_is_no_repetition(make_run, account):
    with_each = setup_of_models(make_run, account, before_all=True)
    assert with_each["single_calls"].sum() == pytest.approx(0.9)
    assert with_each[account].sum() == pytest.approx(0.0)
    later = setup_of_models(make_run, account, before_all=False)
    assert "single_calls" not in later
    assert later[account].sum() == pytest.approx(0.9)
