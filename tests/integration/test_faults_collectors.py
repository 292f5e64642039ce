"""Collectors that break, hang or tell nonsense, in a program that trains."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("tensorflow")

from integration.written import failures

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.reader.logdir import read_runs

pytestmark = pytest.mark.tensorflow


def test_collectors_that_break_or_hang_are_switched_off_and_cost_the_training_nothing(
    run, tmp_path
):
    body = """
    from tb_slowdown_plugin.writer import session_factory as assembly

    class Broken:
        caveat = ""
        def __init__(self, name, in_background=False, **does):
            self.name, self.in_background, self.does = name, in_background, does
        def __getattr__(self, method):
            if method == "read_in_thread":
                raise AttributeError
            return lambda *_: self.does.get(method, dict)()

    def fail():
        raise RuntimeError("gone")

    good = assembly.create_collectors
    assembly.create_collectors = lambda: [
        Broken("no_start", start=fail),
        Broken("no_read", read=fail),
        Broken("no_stop", stop=fail),
        Broken("not_a_number", read=lambda: {"a": float("nan")}),
        Broken("negative", read=lambda: {"a": -1}),
        Broken("a_text", read=lambda: {"a": "many"}),
        Broken("hanging", read=lambda: time.sleep(60)),
        Broken("no_driver", in_background=True, start=lambda: time.sleep(60)),
        *good(),
    ]
    began = time.perf_counter()
    with tbslow.start(logdir) as monitor:
        states = monitor._session._collection.states
        assert "no_driver" not in {state.name for state in states()}, "nobody waits for it"
        while {"hanging", "no_driver"} - {state.name for state in states()
                                          if state.status == "failed"}:
            train(20, 0.01)
            assert time.perf_counter() - began < 50, "it was never switched off"
        train(100, 0.01)
    print("trained")
    """
    finished = run(body)
    assert finished.stdout == "trained\n", finished.stderr
    broken = {
        "no_start": "RuntimeError in fail",
        "no_read": "RuntimeError in fail",
        "no_stop": "RuntimeError in fail",
        "not_a_number": "ValueError: a is nan, not a finite number",
        "negative": "ValueError: a is -1.0, and no signal is below zero",
        "a_text": "ValueError: could not convert string to float: 'many'",
        "hanging": "a reading did not come back for",
        "no_driver": "its start did not come back for",
    }
    assert len(finished.warnings) == len(broken)
    recorded = {failure.part: failure.reason for failure in failures(tmp_path)}
    assert recorded.keys() == broken.keys()
    (found,) = read_runs(str(tmp_path), warn=pytest.fail)
    states = {state.signal: state for state in account_for(found).report.signals}
    for name, reason in broken.items():
        assert recorded[name].startswith(reason)
        assert (states[name].status, states[name].reason) == ("failed", recorded[name])
    assert states["process_memory"].status == "measured"
    read_on = found.signals.row[~np.isnan(found.signals.values["rss_bytes"])]
    assert read_on[-1] > len(found.steps) - 100, "what works is read on"
    # The slowest step is not held up for as long as the reading hangs.
    assert found.steps.inside_seconds.max() < 2.0
