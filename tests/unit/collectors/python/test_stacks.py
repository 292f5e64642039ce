"""When stack samples are taken and told, on a clock that the test sets."""

import sys

import pytest
from unit.collectors.stack_training import HERE, Replay, line_of, stacks

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.python.stacks import PythonStacks


def test_steps_that_keep_their_pace_are_sampled_once_for_comparison(recording, training):
    training.run(18, Replay().sample)
    training.run(552, Replay().store)
    prefix = "Replay." if sys.version_info >= (3, 11) else ""
    sample = f"{prefix}sample ({HERE}:{line_of(Replay.sample)})"
    store = f"{prefix}store ({HERE}:{line_of(Replay.store)})"
    assert stacks(recording) == [
        (sample, {"samples": 10, "of": 10}),
        (sample, {"samples": 8, "of": 10}),
        (store, {"samples": 2, "of": 10}),
        (store, {"samples": 10, "of": 10}),
        (store, {"samples": 20, "of": 20}),
        (store, {"samples": 20, "of": 20}),
        (store, {"samples": 30, "of": 30}),
    ]


def test_a_run_of_a_few_seconds_has_two_sets(recording, training):
    """Ten seconds at a sample in 0.4 s: what grew in them is seen."""
    training.run(14, Replay().store)
    training.run(9, Replay().sample)
    training.collector.stop()
    told = stacks(recording)
    assert [numbers["of"] for _, numbers in told] == [10, 10, 10], told


def test_a_jump_within_the_first_samples_ends_them(recording, training):
    training.run(33, Replay().store)
    training.run(75, Replay().sample, step_ms=200)
    training.end_step()
    training.collector.stop()
    told = [
        (place.partition(" ")[0].rpartition(".")[2], numbers["samples"], numbers["of"])
        for place, numbers in stacks(recording)
    ]
    before, after = told[:5], told[5:]
    assert before[:3] == [("store", 10, 10)] * 3
    assert before[3:] == [("store", 3, 5), ("sample", 2, 5)]
    assert after == [("sample", 20, 20), ("sample", 30, 30), ("sample", 23, 23)]


@pytest.mark.parametrize("slower", [{"step_ms": 120}, {"cpu_ms": 60}])
def test_a_drift_of_wall_or_cpu_time_is_sampled_until_it_ends(recording, training, slower):
    training.run(75, Replay().store)
    recording.events.clear()
    training.run(80, Replay().sample, **slower)
    training.run(40, Replay().store)
    told = stacks(recording)
    assert [numbers["samples"] for _, numbers in told if numbers["of"] == 30] == [30]
    assert all("sample" in place or numbers["samples"] <= 10 for place, numbers in told)
    recording.events.clear()
    training.run(200, Replay().store)
    assert stacks(recording) == []


def test_a_long_suspicion_is_told_ever_more_rarely(recording, training):
    training.run(60, Replay().store)
    training.run(60_000, Replay().sample, step_ms=300)
    sizes = [numbers["of"] for _, numbers in stacks(recording)]
    assert sizes[:8] == [10, 10, 10, 20, 10, 30, 30, 60]
    assert sizes[8:16] == [60] * 8
    assert sizes[4:] == sorted(sizes[4:])
    assert len(sizes) < 120


def test_what_is_pending_is_told_at_the_end_if_it_is_enough(recording, training):
    training.run(29, Replay().store)
    training.end_step()
    training.collector.stop()
    assert [numbers["of"] for _, numbers in stacks(recording)] == [10, 10, 9]
    training.run(4, Replay().store)
    training.collector.stop()
    assert len(stacks(recording)) == 3


def test_what_is_seen_after_the_last_step_is_of_none(recording, training):
    """Such as a dataset that is taken down, or a file that is saved."""
    training.run(7, Replay().store)
    for _ in range(40):
        Replay().sample(training.collector.read)
    training.collector.stop()
    ((place, numbers),) = stacks(recording)
    assert "store" in place
    assert numbers == {"samples": 6, "of": 6}


def test_what_is_seen_in_a_long_step_is_told_when_it_has_ended(recording, training):
    training.run(3, Replay().store)
    for _ in range(40):
        Replay().sample(training.collector.read)
    assert stacks(recording) == []
    training.run(1, Replay().store)
    assert {numbers["of"] for _, numbers in stacks(recording)} == {43}


def test_before_the_first_step_nothing_is_sampled(recording, training):
    assert training.collector.read() == {}
    training.collector.stop()
    assert recording.events == []


def test_a_python_without_frames_says_so(recording, monkeypatch):
    monkeypatch.delattr(sys, "_current_frames")
    with pytest.raises(Unavailable, match="frames of other threads"):
        PythonStacks().start(recording.context)
