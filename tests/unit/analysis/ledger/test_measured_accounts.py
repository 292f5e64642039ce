"""Each account by its own rule: floors, growth, warm-up, parts of the step, short runs."""

import numpy as np
import pytest
from unit.analysis.noisy_steps import noisy_steps

from tb_slowdown_plugin.analysis import diagnose
from tb_slowdown_plugin.errors import UsageError


def every(period, seconds, count=2000):
    return np.where(np.arange(count) % period == period - 1, seconds, 0.0)


def findings(measured, count=2000, **extra):
    total = noisy_steps(count) + sum(measured.values())
    return diagnose(total, measured, **extra).findings


@pytest.mark.parametrize(("share", "named"), [(0.13, False), (0.17, True)])
def test_waiting_for_input_is_named_from_15_percent(share, named):
    wait = np.random.default_rng(0).gamma(3, 0.01 * share / (1 - share) / 3, 2000)
    assert bool(findings({"input_wait": wait})) == named


@pytest.mark.parametrize(
    ("account", "named"),
    [("callback:Plotter", True), ("checkpoint:save", True), ("eager:f", False)],
)
def test_a_wait_is_compared_with_the_time_in_which_batches_are_taken(account, named):
    # 20% of the steps, 10% of the run: the other half of it no step waits for a batch.
    wait = np.random.default_rng(0).gamma(3, 0.01 * 0.2 / 0.8 / 3, 2000)
    found = findings({"input_wait": wait, account: np.full(2000, 0.0125)})
    assert ("input_wait" in {each.source for each in found}) == named


@pytest.mark.parametrize(("seconds", "named"), [(0.0003, False), (0.001, True)])
def test_asking_for_a_batch_that_is_ready_is_no_waiting(seconds, named):
    wait = np.full(2000, seconds)
    step = 0.001 * np.exp(np.random.default_rng(0).normal(0, 0.05, 2000))
    assert bool(diagnose(step + wait, {"input_wait": wait}).findings) == named


@pytest.mark.parametrize("account", ["input_work", "eager:count (train.py:7)", "callback:Plotter"])
def test_a_share_of_the_steps_that_is_little_does_not_grow_by_itself(account):
    # What samples tell is spread over the steps; what a clock tells has a course of its own.
    risen = np.where(np.arange(2000) < 700, 0.0, 0.001)
    assert bool(findings({account: risen})) == (account == "callback:Plotter")


def test_what_came_once_at_the_end_of_an_epoch_did_not_come_at_epochs():
    once = np.where(np.arange(2000) == 1499, 2.0, 0.0)
    (found,) = findings({"profiling": once}, epochs=range(0, 2000, 500))
    assert (found.pattern, found.rows) == ("one_off", (1499, 1499))


@pytest.mark.parametrize(("risen", "named"), [(0.0004, False), (0.001, True)])
def test_asking_a_little_longer_is_no_growth_of_waiting(risen, named):
    wait = np.where(np.arange(2000) < 700, 0.0002, risen)
    assert bool(findings({"input_wait": wait})) == named


@pytest.mark.parametrize(
    ("steps", "seconds", "named"), [(20, 0.05, False), (20, 0.12, True), (8, 0.07, True)]
)
def test_starts_of_passes_count_where_they_are_long_or_the_passes_too_short(steps, seconds, named):
    wait = np.roll(every(steps, seconds), 1)
    found = findings({"input_wait": wait}, epochs=range(0, 2000, steps))
    assert [each.source for each in found] == ["input_wait"] * named


@pytest.mark.parametrize(("seconds", "named"), [(0.0004, False), (0.0008, True)])
def test_a_small_cost_of_each_step_is_much_only_beside_short_steps(seconds, named):
    step = 0.005 * np.exp(np.random.default_rng(0).normal(0, 0.02, 2000))
    each = np.full(2000, seconds)
    found = diagnose(step + each, {"summary:TensorBoard": each}).findings
    assert [finding.source for finding in found] == ["summary:TensorBoard"] * named


@pytest.mark.parametrize(("seconds", "named"), [(0.04, False), (0.07, True)])
@pytest.mark.parametrize("account", ["checkpoint", "callback:TensorBoard", "summary", "gc"])
def test_configured_costs_are_named_from_5_percent(account, seconds, named):
    assert bool(findings({account: every(100, seconds)})) == named


@pytest.mark.parametrize(("seconds", "named"), [(1.5, False), (4.0, True)])
def test_what_came_once_is_named_from_15_percent(seconds, named):
    once = np.where(np.arange(2000) == 700, seconds, every(100, 0.001))
    found = findings({"callback:Sheet": once})
    assert [each.pattern for each in found] == ["one_off"] * named


def test_two_pauses_are_not_garbage_collection():
    assert findings({"gc": every(1000, 3.0)}) == ()
    assert [each.source for each in findings({"gc": every(600, 3.0)})] == ["gc"]


def test_validation_is_healthy_unless_it_grows():
    assert findings({"validation": every(100, 2.0)}) == ()
    grows = every(100, 1.0) * np.linspace(1, 3, 2000)
    (finding,) = findings({"validation": grows})
    assert (finding.source, finding.pattern) == ("validation", "drift")
    assert finding.lost_seconds == pytest.approx(grows.sum() - 20, rel=0.1)


def test_validation_of_a_larger_model_is_no_growth():
    """A head is trained on features, then the whole model on pictures."""
    row = np.arange(2000)
    steps = noisy_steps(2000) * np.where((row >= 500) & (row < 1200), 0.2, 1.0)
    validation = np.where(row % 100 == 99, np.where(row < 1200, 0.2, 1.0), 0.0)
    found = diagnose(steps + validation, {"validation": validation}).findings
    assert "validation" not in {each.source for each in found}


def test_a_small_cost_is_named_for_its_growth_alone():
    grows = every(100, 0.02) * np.linspace(1, 4, 2000)
    (finding,) = findings({"checkpoint": grows})
    assert finding.pattern == "drift"
    assert finding.lost_seconds == pytest.approx(grows.sum() - 0.02 * 20, rel=0.2)


def test_waiting_that_begins_is_a_level_shift_and_counts_in_full():
    wait = np.where(np.arange(2000) < 700, 0.0002, 0.02)
    (finding,) = findings({"input_wait": wait})
    assert finding.pattern == "level_shift"
    assert abs(finding.rows[0] - 700) <= 3
    assert finding.lost_seconds == pytest.approx(wait.sum())


def test_tracing_again_is_named_from_half_a_percent():
    assert findings({"tracing:again": every(400, 0.015)}) == ()
    (finding,) = findings({"tracing:again": every(400, 0.04)})
    assert finding.lost_seconds == pytest.approx(0.2)


def test_plain_tracing_is_warm_up_first_and_retracing_later():
    tracing = np.zeros(2000)
    tracing[0], tracing[1500] = 3.0, 2.0
    warm_up, again = findings({"tracing": tracing})
    assert (warm_up.pattern, warm_up.lost_seconds) == ("warm_up", pytest.approx(3.0))
    assert (again.pattern, again.lost_seconds) == ("one_off", pytest.approx(2.0))


def test_a_phase_is_a_part_of_the_step_and_carries_its_growth():
    backward = 0.005 * np.linspace(1, 3, 2000)
    forward = np.full(2000, 0.004)
    assert findings({"forward": forward, "backward": np.full(2000, 0.005)}) == ()
    (finding,) = findings({"forward": forward, "backward": backward})
    assert (finding.source, finding.pattern) == ("core", "drift")
    assert finding.numbers["share:backward"] == pytest.approx(1, abs=0.05)
    assert finding.lost_seconds == pytest.approx(backward.sum() - 10, rel=0.15)
    assert finding.numbers["share:forward"] == pytest.approx(0, abs=0.05)


def test_retracing_of_a_short_run_is_told_and_so_is_a_jump():
    tracing = np.full(60, 0.02)
    short = noisy_steps(60)
    diagnosis = diagnose(short + tracing, {"tracing:again": tracing})
    assert diagnosis.verdict == "slowdown"
    assert diagnosis.findings[0].lost_seconds == pytest.approx(1.2)
    short[30:] *= 3
    (finding,) = diagnose(short).findings
    assert (finding.source, finding.pattern, finding.rows) == ("core", "level_shift", (30, 59))


def test_seconds_beyond_the_step_are_scaled_to_it():
    diagnosis = diagnose(np.full(200, 0.01), {"input_wait": np.full(200, 0.5)})
    assert diagnosis.ledger.lost == {"input_wait": pytest.approx(2.0)}


def test_rare_kinds_are_left_alone():
    kind = np.zeros(2000, int)
    kind[1000:1030] = 1
    step = noisy_steps(2000)
    step[kind == 1] *= 50
    assert diagnose(step, kinds=kind).verdict == "healthy"


def test_growth_beyond_the_items_is_a_slowdown():
    items = np.random.default_rng(5).integers(20, 200, 3000).astype(float)
    step = noisy_steps(3000) * items / 100
    assert diagnose(step, items=items).verdict == "healthy"
    (finding,) = diagnose(step * np.linspace(1, 2, 3000), items=items).findings
    assert finding.pattern == "drift"


@pytest.mark.parametrize("name", ["kinds", "items", "cpu_seconds"])
def test_an_array_of_another_length_is_refused(name):
    with pytest.raises(UsageError, match=r"has shape \(3,\).*give one"):
        diagnose(noisy_steps(200), **{name: np.ones(3)})
    with pytest.raises(UsageError, match="run_delay_seconds"):
        diagnose(noisy_steps(200), signals={"run_delay_seconds": np.ones(3)})
    with pytest.raises(UsageError, match="measured"):
        diagnose(noisy_steps(200), {"gc": np.ones(3)})
    with pytest.raises(UsageError, match="one-dimensional"):
        diagnose(np.ones((3, 3)))


def test_a_few_early_traces_for_a_few_shapes_are_no_retracing():
    tracing = np.zeros(2000)
    tracing[[1, 5, 9]] = 0.2
    assert findings({"tracing:again": tracing}) == ()
    tracing[1500] = 0.2
    assert [each.source for each in findings({"tracing:again": tracing})] == ["tracing:again"]
    tracing[1500] = 0
    assert [each.source for each in findings({"tracing:again": tracing * 4})] == ["tracing:again"]


@pytest.mark.parametrize("sets_up", [True, False])
def test_the_first_iterator_of_a_run_is_warm_up(sets_up):
    epochs = np.arange(0, 2000, 200)
    wait, library = np.zeros(2000), np.zeros(2000)
    wait[epochs] = 0.6
    library[epochs] = 0.001 * sets_up
    found = {
        finding.pattern: finding.lost_seconds
        for finding in findings({"input_wait": wait, "tracing:library": library}, epochs=epochs)
        if finding.source == "input_wait"
    }
    assert found == {
        **({"warm_up": pytest.approx(0.6)} if sets_up else {}),
        "epoch_boundary": pytest.approx(0.6 * (9 if sets_up else 10)),
    }


@pytest.mark.parametrize(("seconds", "named"), [(0.001, False), (0.005, True)])
def test_growth_that_the_clock_may_make_by_itself_is_none(seconds, named):
    """In 1.2 s thirty callbacks that grow by half a millisecond each are 0.7% of the run."""
    grows = np.zeros(240)
    grows[7::8] = seconds * np.linspace(1, 1.6, 30)
    found = diagnose(np.full(240, 0.005) + grows, {"callback:Plotter": grows}).findings
    assert bool(found) is named


@pytest.mark.parametrize("named", [True, False])
def test_validation_that_takes_longer_as_the_steps_do_does_not_grow(named):
    more = np.repeat([1.0, 2.0, 4.0], [800, 700, 500])
    validation = every(50, 0.5) * more
    step = 0.02 * np.exp(np.random.default_rng(0).normal(0, 0.03, 2000))
    steps = step if named else step * more
    found = diagnose(steps + validation, {"validation": validation}, kinds=more).findings
    assert [finding.source for finding in found] == ["validation"] * named
