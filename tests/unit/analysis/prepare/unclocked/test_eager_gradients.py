"""Gradients beside graphs cost what steps with them take beyond steps with the same graphs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.unclocked.eager_gradients import with_eager_gradients
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

SIZE = 400
ROWS = np.arange(SIZE)
WATCHED = (ROWS >= 200) & (ROWS % 2 == 0)
PERIOD = np.where(WATCHED, 0.060, 0.020)
"""Of 12 s steps take 4 s more."""
PLACE = "Gan.penalty (gan.py:81)"


def told(rows=(210, 260, 310, 360), line=81, eager=8.0, **more):
    numbers = {"samples": eager, "of": 20.0, "eager_training": eager, **more}
    return [(row, Fact("python_stack", f"Gan.penalty (gan.py:{line})", numbers)) for row in rows]


def run_of(make_run, facts, ran=None, **more):
    run = make_run(PERIOD, events=facts, **more)
    ran = np.where(WATCHED, 0b111, 0b110) if ran is None else ran
    return replace(run, steps=replace(run.steps, ran=np.broadcast_to(ran, SIZE)))


def test_what_steps_with_them_take_longer(make_run):
    made = with_eager_gradients(run_of(make_run, told()), {"gc": np.full(SIZE, 0.005)})
    np.testing.assert_allclose(made[f"eager:{PLACE}"], np.where(WATCHED, 0.040, 0.0))


@pytest.mark.parametrize(
    ("facts", "ran"),
    [
        (told(), 0b111),
        (told(), np.where(WATCHED, 0b001, 0b110)),
        (told(), np.where(WATCHED, 0b1001, 0b110)),
        (told(long_training=2.0), None),
        (told(rows=(210,), eager=2.0), None),
        (told(eager=1.0), None),
        ([], None),
    ],
    ids=[
        "in every step",
        "in steps without graphs",
        "beside other graphs",
        "operations that go on",
        "few samples",
        "samples of less",
        "no samples",
    ],
)
def test_what_is_not_sure_or_the_model_itself_has_none(make_run, facts, ran):
    assert with_eager_gradients(run_of(make_run, facts, ran), {}) == {}


def test_they_are_one_row_with_their_line(make_run):
    report = account_for(run_of(make_run, told())).report
    (cause,) = report.causes
    assert (cause.cause, cause.place.line) == ("python_overhead", 81)
    assert cause.lost_seconds == pytest.approx(4.0, rel=0.02)
    assert f"gradients one operation at a time in {PLACE}" in report.headline
    assert cause.evidence[0].endswith(
        "is what steps with them take longer than steps that run the same graphs only."
    )
    assert cause.advice[0].text.startswith("Make `Gan.penalty` a `tf.function`")
