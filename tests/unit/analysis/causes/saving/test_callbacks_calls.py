"""What a callback calls is its own: one cause, with the call's name and line."""

import numpy as np
import pytest

from tb_slowdown_plugin.records.types import Fact

SIZE = 400
CALLBACK = np.where(np.arange(SIZE) % 4 == 0, 0.200, 0.0)
SUBJECT = "callback:Plotter|predict|Plotter.on_train_batch_end (train.py:9)"
PARTS = {"in:computing": 0.064, "in:input_wait": 6.4, "in:tracing": 3.2}


@pytest.fixture
def report(make_run, find, judge):
    def judged(**numbers):
        fact = Fact("called", SUBJECT, {"calls": 64.0, "batches": 64.0, **PARTS, **numbers})
        run = make_run(
            0.010 + CALLBACK,
            accounts={"callback:Plotter": CALLBACK},
            events=[(300, fact)],
        )
        return judge(run, find("callback:Plotter", "periodic", CALLBACK)).report

    return judged


def test_a_predict_that_takes_most_of_a_callback_is_named_with_it(report):
    told = report(seconds=12.8)
    (cause,) = told.causes
    assert (cause.cause, cause.lost_seconds) == ("callbacks", pytest.approx(20.0))
    assert told.headline.endswith("the callback Plotter, which calls predict")
    assert cause.summary.endswith(
        "Most of it is its call of `predict` in Plotter.on_train_batch_end (train.py:9)."
    )
    assert cause.evidence[-1] == (
        "A call of `predict` in Plotter.on_train_batch_end (train.py:9) takes 200 ms, by the first "
        "64 calls: 100 ms waiting for its data, 50 ms tracing functions, 49 ms all else that the "
        "call does and 1 ms computing."
    )
    assert "y = model(x, training=False)" in cause.advice[0].code


def test_a_predict_that_takes_little_of_it_is_evidence_only(report):
    (cause,) = report(seconds=0.64).causes
    assert "predict" not in cause.summary
    assert any("A call of `predict`" in line for line in cause.evidence)
    assert not any("training=False" in advice.code for advice in cause.advice)
