"""`Stopwatch.wait` books what `open` and `close` would."""

import itertools

import pytest

from tb_slowdown_plugin.collectors.stopwatch import Stopwatch
from tb_slowdown_plugin.records.names import INPUT_WAIT


def make():
    """Each look at the clock takes 10 ns."""
    watch = Stopwatch(itertools.count(0, 10).__next__)
    watch.claim()
    return watch


def open_and_close(watch, fetch):
    watch.open(INPUT_WAIT)
    try:
        return fetch()
    finally:
        watch.close()


def wait(watch, fetch):
    return watch.wait(fetch)


def alone(watch, call):
    call(watch, lambda: None)
    call(watch, lambda: None)


def inside_a_phase(watch, call):
    watch.open("forward")
    call(watch, lambda: None)
    watch.close()


def with_a_trace_inside(watch, call):
    def fetch():
        watch.open("tracing:first")
        watch.close()

    call(watch, fetch)


def with_another_wait_inside(watch, call):
    call(watch, lambda: call(watch, lambda: None))


def with_a_pause_that_is_told_afterwards(watch, call):
    def tell():
        watch.askers.remove(tell)
        watch.book("gc", 3)

    call(watch, lambda: watch.add_asker(tell))


def with_an_asker_that_stays(watch, call):
    watch.add_asker(lambda: watch.ask_again(0, 0))
    call(watch, lambda: None)


@pytest.mark.parametrize(
    "program",
    [
        alone,
        inside_a_phase,
        with_a_trace_inside,
        with_another_wait_inside,
        with_a_pause_that_is_told_afterwards,
        with_an_asker_that_stays,
    ],
)
def test_waiting_is_booked_as_by_opening_and_closing(program):
    taken = []
    for call in (wait, open_and_close):
        watch = make()
        program(watch, call)
        assert watch.opened == []
        total = watch.booked_ns
        taken.append(watch.take())
        assert sum(taken[-1].values()) == total > 0
        assert watch.take() == {}
    assert taken[0] == taken[1]


def test_what_is_fetched_comes_back_and_an_error_leaves_nothing_open():
    watch = make()
    assert watch.wait(max, 1, 2) == 2
    with pytest.raises(StopIteration):
        watch.wait(iter([]).__next__)
    assert (watch.opened, watch.take()) == ([], {INPUT_WAIT: 20})


def test_an_interrupt_before_anything_was_opened_closes_nothing_else():
    def interrupted():
        raise KeyboardInterrupt

    watch = Stopwatch(interrupted)
    with pytest.raises(KeyboardInterrupt):
        watch.wait(list)
    assert watch.opened == []
