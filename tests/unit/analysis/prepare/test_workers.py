"""Who waits for whom among several workers, on runs written down as arrays."""

import dataclasses

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.workers import (
    describe_workers,
    excess_by_account,
    find_group,
)
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.reader.logdir import read_runs
from tb_slowdown_plugin.reader.worker_run import run_of_worker
from tb_slowdown_plugin.records.metadata import worker_run
from tb_slowdown_plugin.records.types import Environment

STEPS = 400
PRICE = 0.002
"""What the all-reduce itself takes."""
WORK = 0.010


@pytest.fixture
def make_group(make_run):
    """A run of several workers; each has its late seconds a step, and what it waits follows."""

    def make(late, accounts=None, numbers=None):
        arrivals = np.array([np.broadcast_to(each, STEPS) for each in late])
        period = WORK + arrivals.max(axis=0) + PRICE
        members = []
        for index, own in enumerate(arrivals):
            held = {
                name: np.broadcast_to(values, STEPS)
                for name, values in (accounts or {}).get(index, {}).items()
            }
            run = make_run(
                period,
                accounts={"communication": PRICE + arrivals.max(axis=0) - own, **held},
                numbers=(numbers or {}).get(index),
            )
            environment = Environment(worker_index=index, worker_count=len(late))
            name = worker_run("run1", index) if index else "run1"
            members.append(dataclasses.replace(run, name=name, environment=environment))
        return dataclasses.replace(members[0], workers=tuple(members[1:]))

    return make


def test_the_worker_that_waits_least_is_the_one_that_the_others_wait_for(make_group):
    run = make_group([0.0, 0.005, 0.001, 0.0])
    group = find_group(run)
    assert group.indices[group.straggler] == 1
    np.testing.assert_allclose(group.lost, 0.005)
    np.testing.assert_allclose(group.late[1], 0.005)
    assert not group.late[[0, 2, 3]].any()


@pytest.mark.parametrize(
    ("recording", "straggler", "last"), [("one_late", 1, [1, 115]), ("in_turn", None, [72, 35])]
)
def test_of_two_real_workers(root, recording, straggler, last):
    """Recorded by `tests/integration/worker_training.py`, 20 ms late each step or in turn."""
    (run,) = read_runs(str(root / "tests" / "recorded_workers" / recording), warn=pytest.fail)
    workers = describe_workers(run)
    assert [worker["last_steps"] for worker in workers] == last
    assert [worker["straggler"] for worker in workers] == [n == straggler for n in (0, 1)]
    (own,) = read_runs(
        str(root / "tests" / "recorded_workers" / recording), run=worker_run(".", 1),
        warn=pytest.fail,
    )  # fmt: skip
    assert own.name == "slowdown/worker-1"
    assert describe_workers(own) == workers
    with pytest.raises(InputError, match="has no slowdown data"):
        list(read_runs(
            str(root / "tests" / "recorded_workers" / recording), run=worker_run(".", 2),
            warn=pytest.fail,
        ))  # fmt: skip


def test_the_price_of_communicating_is_nobodys_loss(make_group):
    run = make_group([0.0, 0.0])
    assert find_group(run).lost.sum() == pytest.approx(0.0, abs=1e-9)
    assert [cause.cause for cause in account_for(run).report.causes] == []


def test_an_all_reduce_that_takes_longer_each_third_time_is_told_as_such(make_run, find, judge):
    price = np.where(np.arange(STEPS) % 3 == 0, 0.004, 0.0)
    members = [
        dataclasses.replace(
            make_run(0.010 + price, accounts={"communication": price + late}),
            environment=Environment(worker_index=index, worker_count=2),
        )
        for index, late in enumerate((0.0, 0.0001))
    ]
    run = dataclasses.replace(members[0], workers=tuple(members[1:]))
    finding = find("core", "periodic", price, confidence="medium", period_steps=3)
    report = judge(run, finding).report
    assert (report.verdict, report.causes) == ("healthy", ())
    (note,) = report.notes
    assert note.startswith("The all-reduce itself takes 4 ms longer every 3 steps on all workers (")
    assert note.endswith("It has been constant, so it isn't counted as lost.")


def test_the_report_names_the_straggler_and_what_it_spends_its_time_on(make_group):
    run = make_group([0.0, 0.006], accounts={1: {"input_wait": 0.006}, 0: {"input_wait": 0.0}})
    report = account_for(run).report
    (cause,) = report.causes
    assert cause.cause == "communication"
    assert cause.lost_seconds == pytest.approx(STEPS * 0.006, rel=0.01)
    assert cause.summary == (
        "Worker 1 reaches the all-reduce last, and the other worker waits for it."
    )
    assert report.headline == "2.4 s of 7.2 s lost (33%) to waiting for worker 1."
    told = " ".join(cause.evidence)
    assert "Worker 1 is last in 100% of the steps" in told
    assert "Worker 1 spends 6 ms per step more than the others in `input_wait`." in told
    assert [worker["straggler"] for worker in report.workers] == [False, True]
    assert report.workers[1] == {
        "worker": 1,
        "run": "run1/slowdown/worker-1",
        "steps": STEPS,
        "step_seconds": 0.018,
        "wait_seconds": pytest.approx(STEPS * PRICE),
        "others_wait_seconds": pytest.approx(STEPS * 0.006),
        "last_steps": STEPS,
        "last_in_a_row": STEPS,
        "host_class": None,
        "straggler": True,
        "reading": "the straggler: last in 400 of 400 late steps, 400 in a row",
    }


def test_a_late_chief_costs_its_own_wall_what_the_others_wait(make_group):
    run = make_group([0.006, 0.0, 0.0])
    assert find_group(run).straggler == 0
    report = account_for(run).report
    assert [cause.cause for cause in report.causes] == ["communication"]
    assert report.causes[0].lost_seconds == pytest.approx(STEPS * 0.006, rel=0.01)
    assert "Worker 0 reaches the all-reduce last" in report.causes[0].summary
    assert any("on work without an account" in sentence for sentence in report.causes[0].evidence)


def test_what_the_chief_has_measured_of_its_lateness_is_charged_once(make_group):
    run = make_group([0.006, 0.0], accounts={0: {"input_wait": 0.006}})
    report = account_for(run).report
    assert [cause.cause for cause in report.causes] == ["input_pipeline"]
    assert report.causes[0].lost_seconds == pytest.approx(STEPS * 0.006, rel=0.01)
    assert report.workers[0]["straggler"] is True


@pytest.mark.parametrize(("share", "straggler"), [(0.62, None), (0.75, 1)])
def test_of_two_workers_the_straggler_is_late_far_more_than_the_other(make_group, share, straggler):
    """Equal workers are late in turn, by the jitter of their steps, and never to equal parts."""
    second = np.random.default_rng(1).random(STEPS) < share
    run = make_group([np.where(second, 0.0, 0.001), np.where(second, 0.001, 0.0)])
    assert find_group(run).straggler == straggler
    report = account_for(run).report
    assert [cause.cause for cause in report.causes] == (
        [] if straggler is None else ["communication"]
    )


def test_workers_that_are_late_in_turn_have_no_straggler(make_group):
    turns = np.arange(STEPS) % 3
    run = make_group([np.where(turns == place, 0.006, 0.0) for place in range(3)])
    assert find_group(run).straggler is None
    report = account_for(run).report
    assert (
        report.causes[0].summary
        == "All 3 workers wait at the all-reduce, and none is consistently last."
    )
    assert not any(worker["straggler"] for worker in report.workers)
    assert [worker["last_steps"] for worker in report.workers] == [134, 133, 133]
    assert [worker["last_in_a_row"] for worker in report.workers] == [1, 1, 1]


def test_workers_that_are_late_in_turn_are_counted_in_the_evidence(make_group):
    turns = np.arange(STEPS) // 4 % 2
    run = make_group([np.where(turns == place, 0.006, 0.0) for place in range(2)])
    told = account_for(run).report.causes[0].evidence
    assert (
        "Of 400 steps in which one worker was late, the last was worker 0 in 200, worker 1 in 200; "
        "the same worker at most 4 times in a row."
    ) in told


def test_the_straggler_is_told_by_the_class_of_its_host(make_group):
    run = make_group([0.0, 0.0, 0.006])
    members = [
        dataclasses.replace(
            each,
            environment=dataclasses.replace(each.environment, limits={"host_class": number}),
        )
        for each, number in zip((run, *run.workers), (1.0, 1.0, 2.0), strict=True)
    ]
    run = dataclasses.replace(members[0], workers=tuple(members[1:]))
    report = account_for(run).report
    assert [worker["host_class"] for worker in report.workers] == ["A", "A", "B"]
    assert (
        "The last was on hosts of class B in 400 of 400 steps; 1 worker of 3 is on such hosts."
    ) in report.causes[0].evidence


def test_steps_in_which_nobody_is_notably_late_have_no_last(make_group):
    jitter = np.random.default_rng(1).random((2, STEPS)) * 1e-4
    late = np.where(np.arange(STEPS) < 30, 0.004, 0.0)
    workers = describe_workers(make_group([jitter[0], jitter[1] + late]))
    assert [worker["last_steps"] for worker in workers] == [0, 30]
    assert workers[1]["last_in_a_row"] == 30


def test_the_run_of_a_worker_has_its_steps_and_the_chief_among_the_others(make_group):
    run = make_group([0.0, 0.006, 0.0])
    assert run_of_worker(run, 0) is None
    assert run_of_worker(run, 3) is None
    own = run_of_worker(run, 1)
    assert own is not None
    assert (own.name, own.steps) == ("run1/slowdown/worker-1", run.workers[0].steps)
    assert [each.name for each in own.workers] == ["run1", "run1/slowdown/worker-2"]
    assert find_group(own).indices == (1, 0, 2)
    assert describe_workers(own) == describe_workers(run)
    report = account_for(own).report
    assert report.run == "run1/slowdown/worker-1"
    # It does not wait: what its steps take beyond the others' is its own.
    (cause,) = report.causes
    assert cause.summary.startswith("Worker 1 reaches the all-reduce last")
    other = account_for(run_of_worker(run, 2)).report.causes[0]
    assert other.lost_seconds == pytest.approx(STEPS * 0.006, rel=0.01)


@pytest.mark.parametrize(("late_seconds", "causes"), [(0.002, []), (0.008, ["communication"])])
def test_waiting_in_turn_is_named_only_where_it_takes_much(make_group, late_seconds, causes):
    """Of equal workers each waits for the other by the jitter of its steps: 7%, and 20%."""
    turn = np.arange(STEPS) % 2
    run = make_group([late_seconds * turn, late_seconds * (1 - turn)])
    assert find_group(run).lost.sum() == pytest.approx(late_seconds * STEPS / 2)
    report = account_for(run).report
    assert [cause.cause for cause in report.causes] == causes


def test_steps_are_matched_by_their_number(make_group):
    behind = np.arange(STEPS) + 100
    run = make_group([0.0, 0.006], numbers={1: behind})
    group = find_group(run)
    assert np.isnan(group.waits[1][:100]).all()
    np.testing.assert_allclose(group.waits[1][100:], PRICE)
    # Where there is nobody to compare with, the usual price stays healthy.
    np.testing.assert_allclose(group.lost, 0.006)


def test_repeated_step_numbers_count_as_the_last_of_them(make_group):
    resumed = np.concatenate([np.arange(100), np.arange(50, STEPS - 50)])
    run = make_group([0.0, 0.006], numbers={0: resumed, 1: resumed})
    np.testing.assert_allclose(find_group(run).lost, 0.006)


def test_without_measured_waits_nothing_is_claimed(make_group):
    run = make_group([0.0, 0.006])
    deaf = dataclasses.replace(
        run.workers[0], steps=dataclasses.replace(run.workers[0].steps, accounts={})
    )
    run = dataclasses.replace(run, workers=(deaf,))
    assert find_group(run) is None
    described = describe_workers(run)
    assert [worker["wait_seconds"] for worker in described] == [None, None]
    assert [worker["steps"] for worker in described] == [STEPS, STEPS]


def test_one_worker_is_no_group(make_run):
    run = make_run(np.full(STEPS, WORK), accounts={"communication": np.full(STEPS, PRICE)})
    assert find_group(run) is None
    assert describe_workers(run) == ()


def test_where_a_worker_spends_more_than_the_others(make_group):
    run = make_group([0.0, 0.006, 0.0], accounts={1: {"gc": 0.001}, 2: {"input_wait": 0.002}})
    excess = excess_by_account(run, 1)
    assert excess["gc"] == pytest.approx(0.001)
    assert excess["input_wait"] == pytest.approx(-0.001)
    assert "communication" not in excess
    # A millisecond of its six is garbage collection; the others have one of input wait.
    assert excess[""] == pytest.approx(0.006)
