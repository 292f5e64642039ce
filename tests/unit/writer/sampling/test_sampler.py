"""Samples keep to their share of a core, come less often where they cost more, and say so."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from tb_slowdown_plugin.writer.sampling import (
    sampler as schedule,
)
from tb_slowdown_plugin.writer.sampling.sampler import (
    SLOWED,
    SamplePace,
    Sampling,
)

EARN_10_MS = 0.01 / schedule.SAMPLING_SHARE


def live(seconds, cost_seconds):
    """The ages at which a run of this length is sampled, and the facts that were told."""
    facts = []
    pace = SamplePace(facts.append)
    ages = [0.0]
    while ages[-1] < seconds:
        ages.append(pace.next_age(ages[-1], cost_seconds))
    return ages, facts


@pytest.mark.parametrize("cost_seconds", [0.0005, 0.002, 0.02, 0.3])
@pytest.mark.parametrize("seconds", [10.0, 600.0, 7200.0])
def test_the_share_of_a_core_is_kept_whatever_a_sample_costs(seconds, cost_seconds):
    ages, _ = live(seconds, cost_seconds)
    credit = 0.01 + 2 * min(cost_seconds, 0.015)
    allowed = schedule.SAMPLING_SHARE * seconds + credit
    assert (len(ages) - 2) * cost_seconds <= allowed + 1e-9
    assert schedule.SAMPLING_SHARE <= 0.005  # what the docs promise


@pytest.mark.parametrize(
    ("age", "seconds"), [(0.0, 0.25), (4.0, 0.25), (100.0, 0.5), (3600.0, 10.0), (1e6, 10.0)]
)
def test_samples_come_less_often_the_older_the_run_is(age, seconds):
    assert schedule.sample_seconds(age) == seconds


def test_cheap_samples_come_as_often_as_the_age_of_the_run_asks_and_nothing_is_told():
    ages, facts = live(50.0, 0.0003)
    assert [late - soon for soon, late in itertools.pairwise(ages)] == [0.25] * 200
    assert facts == []


def test_the_first_time_that_it_backs_off_is_told_with_its_reason():
    ages, facts = live(60.0, 0.02)
    # Of the first two, 5 ms count.
    assert ages[1:5] == pytest.approx([0.25, 0.5, 2 * EARN_10_MS, 4 * EARN_10_MS])
    assert [(fact.name, fact.subject) for fact in facts] == [(SLOWED, "")] * len(facts)
    assert facts[0].numbers == pytest.approx(
        {"seconds": 2 * EARN_10_MS - 0.5, "usual_seconds": 0.25, "sample_cpu_seconds": 0.02}
    )


def test_it_is_told_again_only_when_the_rest_has_doubled():
    facts = []
    pace = SamplePace(facts.append)
    for cost in (0.015, 0.015):
        pace.next_age(0.0, cost)
    age = pace.next_age(0.0, 0.02)
    for cost in (0.002, 0.02, 0.02, 0.02, 0.02):
        age = pace.next_age(age, cost)
    assert [fact.numbers["seconds"] for fact in facts] == pytest.approx(
        [EARN_10_MS, 2 * EARN_10_MS]
    )


def test_a_run_that_has_become_cheap_is_sampled_as_usual_again():
    pace = SamplePace(lambda _: None)
    age = pace.next_age(0.0, 0.045)
    assert age == pytest.approx(2 * EARN_10_MS)
    assert pace.next_age(age, 0.0) - age == pytest.approx(schedule.sample_seconds(age))


def test_one_expensive_sample_does_not_leave_the_run_unseen():
    """40 ms of CPU once, as where the disk's cache was full, would pay for 29 s without any."""
    pace = SamplePace(lambda _: None)
    ages = [0.0]
    for nth in range(40):
        ages.append(pace.next_age(ages[-1], 0.04 if nth == 5 else 0.0002))
    rests = [late - soon for soon, late in itertools.pairwise(ages)]
    assert rests[4] == pytest.approx(0.25)
    assert rests[5] == pytest.approx(16 * 0.25)
    assert max(rests) == pytest.approx(16 * 0.25, rel=0.05)
    assert schedule.SAMPLING_SHARE * ages[-1] + 0.01 >= 0.0002 * 39 + 0.04  # earned in the end


def test_what_the_first_samples_import_leaves_a_short_run_its_samples():
    """Beside other work two took 11 and 14 ms; the next ones 0.5 ms each."""
    pace = SamplePace(lambda _: None)
    ages = [0.0]
    for cost in (0.011, 0.014, *[0.0005] * 20):
        ages.append(pace.next_age(ages[-1], cost))
    assert ages[-1] == pytest.approx(22 * 0.25)


class Collectors:
    """Counts what is read; takes CPU time to start, once, for a look, and for what isn't cheap."""

    needs_thread = False
    is_curious = False
    due_ns = None

    def __init__(self, start_seconds=0.0, read_seconds=0.0, look_seconds=0.0):
        self.reads = []
        self.late = []
        self.looks = 0
        self.cpu_ns = 0
        self._look_ns = int(look_seconds * 1e9)
        self._start_ns, self._read_ns = int(start_seconds * 1e9), int(read_seconds * 1e9)

    def look_late(self, seconds):
        self.late.append((len(self.reads), seconds))

    def start_put_off(self):
        self.cpu_ns += self._start_ns
        self._start_ns = 0
        return True

    def look_once(self):
        self.cpu_ns += self._look_ns
        self.looks += 1
        return True

    def tell_due(self, due_ns):
        self.due_ns = due_ns

    def read(self, *, cheap=False):
        self.cpu_ns += 0 if cheap else self._read_ns
        self.reads.append(cheap)
        return {}


class Run:
    """Sampled by a thread that sleeps as long as it is told; the clock is the test's."""

    def __init__(self, collectors):
        self.now_ns = 0
        clock = SimpleNamespace(
            monotonic_ns=lambda: self.now_ns,
            thread_cpu_ns=lambda: collectors.cpu_ns,
            unix_seconds=lambda: 0.0,
        )
        recorder = SimpleNamespace(clock=clock, emit=lambda fact: None, rows=1)
        self.sampling = Sampling(recorder, collectors, lambda: 0)

    def sample(self, late_seconds=0.0):
        """Reads what is due, and sleeps, for too long if it has to."""
        self.now_ns += int((self.sampling.sample() + late_seconds) * 1e9) + 1


def test_what_collectors_take_to_start_leaves_a_short_run_its_samples():
    """The driver of a GPU took 110 ms of CPU, and a run of 60 s had one sample."""
    slow = Collectors(start_seconds=0.11, read_seconds=0.0003)
    run = Run(slow)
    while run.now_ns < 10e9:
        run.sample()
    assert slow.reads.count(False) == 40
    (*_, last) = run.sampling.drain(final=True)
    assert last.values["monitor_cpu_seconds"] == pytest.approx(0.11 + 0.0003 * 39, abs=1e-6)


def test_a_look_at_a_large_graph_leaves_a_run_its_samples():
    """One of 10,000 operations takes 50 ms of CPU, and a run of 30 s had one sample for 35 s."""
    collectors = Collectors(look_seconds=0.05)
    run = Run(collectors)
    while run.now_ns < 10e9:
        run.sample()
    assert collectors.reads.count(False) == 40


def test_a_run_that_has_something_new_in_each_sample_looks_at_little_of_it():
    collectors = Collectors(look_seconds=0.05)
    run = Run(collectors)
    while run.now_ns < 2_000e9:
        run.sample()
    # 0.2 s, one more, and 0.02% of a core
    assert collectors.looks * 0.05 == pytest.approx(0.2 + 0.0002 * 2_000, abs=0.1)


def test_a_thread_that_was_given_up_while_it_looked_reads_none():
    collectors = Collectors()
    collectors.look_once = lambda: False
    Run(collectors).sample()
    assert collectors.reads == []


def test_a_thread_that_was_given_up_while_it_started_a_collector_reads_none():
    collectors = Collectors()
    collectors.start_put_off = lambda: False
    Run(collectors).sample()
    assert collectors.reads == []


def test_a_young_run_is_looked_at_between_two_samples():
    """Samples that cost 20 ms come every 14 s; what is cheap is read each quarter of a second."""
    collectors = Collectors(read_seconds=0.02)
    run = Run(collectors)
    at = []
    for _ in range(150):
        before, now_ns = len(collectors.reads), run.now_ns
        run.sample()
        at += [now_ns / 1e9] * (len(collectors.reads) - before)
    young = [seconds for seconds in at if seconds < schedule.YOUNG_SECONDS]
    whole = sum(not each for each in collectors.reads[: len(young)])
    free = 2  # the samples after those that import things come between two looks
    looks = 5 / 0.1 + (schedule.YOUNG_SECONDS - 5) / 0.25
    assert len(young) - free == pytest.approx(looks, abs=2)
    assert whole - free <= 4
    assert not any(collectors.reads[len(young) + 1 :])


def test_an_old_run_is_looked_at_while_a_collector_has_more_to_see():
    """Such as the line of steps that get slower, where samples cost 5 ms and come every 3.6 s."""
    collectors = Collectors(read_seconds=0.005)
    run = Run(collectors)
    looks = []
    for second in range(60):
        collectors.is_curious = second >= 40
        before = collectors.reads.count(True)
        while run.now_ns < (second + 1) * 1e9:
            run.sample()
        looks.append(collectors.reads.count(True) - before)
    assert sum(looks[16:40]) == 0
    assert sum(looks[40:]) == pytest.approx(60 * np.log(60 / 40), abs=8)


def test_who_wakes_up_late_is_told_so_before_it_reads():
    collectors = Collectors()
    run = Run(collectors)
    for late_seconds in (0.0, 0.01, 0.4, 0.0):
        run.sample(late_seconds)
    run.sample()
    assert collectors.late == [(3, pytest.approx(0.4, abs=0.001))]


def test_who_reads_knows_when_that_was_due():
    """Not when it woke up: whoever holds the interpreter's lock chooses that."""
    collectors = Collectors()
    run = Run(collectors)
    for late_seconds in (0.001, 0.005, 0.02):
        run.sample(late_seconds)
        woke_ns = run.now_ns
        run.sample()
        assert woke_ns - collectors.due_ns == pytest.approx(late_seconds * 1e9, abs=10)
