"""What a session runs again and again is looked at once; shares of it are known from then on."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.tracing.sessions.session_calls import SessionRuns
from tb_slowdown_plugin.collectors.tracing.sessions.session_work import SessionWork

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


@pytest.fixture
def session():
    with tf.Graph().as_default() as graph:
        for number in range(30):
            tf.constant(1.0, name=f"c{number}")
    return tf.compat.v1.Session(graph=graph)


def test_a_run_is_looked_at_when_it_comes_for_the_third_time(session):
    looked = []

    def look(run, place, since):
        looked.append(([each.name for each in run.operations], place, since))
        return {"graph_reports:train.py:3": 0.5}

    work = SessionWork(look, lambda: 7)
    found = [work.shares_of(session, ("c1:0",), lambda: "train.py:3") for _ in range(4)]
    assert found == [{}, {}, *[{"graph_reports:train.py:3": 0.5}] * 2]
    assert looked == [(["c1"], "train.py:3", 7)]


def test_a_program_that_runs_ever_other_things_is_looked_at_for_a_while(session):
    looked = []
    work = SessionWork(lambda run, *_: looked.append(run) or {}, lambda: 0)
    for number in range(30):
        for _ in range(4):
            work.shares_of(session, (f"c{number}:0",), str)
    assert len(looked) == 20


def test_the_seconds_of_a_share_have_an_account(session, recording):
    watch = recording.stopwatch
    watch.claim()
    runs = SessionRuns(
        watch,
        lambda: 0,
        lambda _: 1,
        lambda _: None,
        place_of=lambda _: "train.py:3",
        work=SessionWork(lambda _, place, __: {f"graph_reports:{place}": 0.25}, lambda: 0),
        monotonic_ns=iter(range(0, 10_000, 1_000)).__next__,
    )
    booked = []
    for _ in range(4):
        list(runs.run(session, "c1:0"))
        booked.append(watch.take().get("graph_reports:train.py:3", 0))
    assert booked == [0, 0, 250, 250]
