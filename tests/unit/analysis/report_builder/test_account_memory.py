"""A run of ten million steps is 80 MB a column: how many of them its account makes."""

import tracemalloc

import numpy as np

from tb_slowdown_plugin.analysis.report_builder.account import account_for

SIZE = 1_000_000
"""Of a shorter run, arrays that are as large in any would count."""
COLUMN_BYTES = 8 * SIZE
MOST_COLUMNS = 15
"""At once, besides the run's own: 13.5, and 19.2 before signals were left as they were sampled."""


def make_long(make_run):
    random = np.random.default_rng(1)
    period = 0.01 * np.exp(random.normal(0, 0.1, SIZE))
    period[SIZE * 2 // 3 :] *= 1.4
    accounts = {
        "input_wait": 0.001 * random.gamma(2.0, 0.5, SIZE),
        "callback:Logger": np.linspace(0.0002, 0.002, SIZE),
        "tracing:again": np.where(np.arange(SIZE) % 997 == 996, 0.2, 0.0),
        "checkpoint": np.where(np.arange(SIZE) % 5000 == 4999, 0.5, 0.0),
    }
    rows = np.arange(0, SIZE, 100)
    signals = (
        "rss_bytes",
        "run_delay_seconds",
        "thread_run_delay_seconds",
        "voluntary_switches",
        "allowed_cores",
        "throttled_seconds",
        "major_faults",
        "involuntary_switches",
        "eager_functions",
        "graph_operations",
    )
    return make_run(
        period + sum(accounts.values()),
        accounts=accounts,
        process_cpu=0.8 * period,
        thread_cpu=0.7 * period,
        signals={name: 1e6 + np.cumsum(random.random(len(rows))) for name in signals},
        signal_rows=rows,
    )


def test_an_account_makes_few_columns_at_once(make_run):
    run = make_long(make_run)
    tracemalloc.start()
    try:
        report = account_for(run).report
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [cause.cause for cause in report.causes] == ["cpu_contention", "callbacks", "retracing"]
    assert peak < MOST_COLUMNS * COLUMN_BYTES
