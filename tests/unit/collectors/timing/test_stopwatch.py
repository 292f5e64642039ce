"""`Stopwatch.wait` books what `open` and `close` would."""

import pytest

from tb_slowdown_plugin.catalog.names import INPUT_WAIT
from tb_slowdown_plugin.collectors.timing.stopwatch import Owner, Stopwatch


class Clock:
    """Stands still, but for what `spend` adds."""

    def __init__(self):
        self.now_ns = 0

    def __call__(self):
        return self.now_ns

    def spend(self, nanoseconds=10):
        self.now_ns += nanoseconds


def make():
    clock = Clock()
    watch = Stopwatch(clock)
    watch.claim()
    return watch, clock


def open_and_close(watch, fetch):
    watch.open(INPUT_WAIT)
    try:
        return fetch()
    finally:
        watch.close()


def wait(watch, fetch):
    return watch.wait(fetch)


def alone(watch, clock, call):
    call(watch, clock.spend)
    clock.spend()
    call(watch, clock.spend)


def inside_a_phase(watch, clock, call):
    watch.open("forward")
    clock.spend()
    call(watch, clock.spend)
    clock.spend()
    watch.close()


def with_a_trace_inside(watch, clock, call):
    def fetch():
        clock.spend()
        watch.open("tracing:first")
        clock.spend(3)
        watch.close()

    call(watch, fetch)


def with_another_wait_inside(watch, clock, call):
    def fetch():
        clock.spend()
        call(watch, clock.spend)

    call(watch, fetch)


def with_a_pause_that_is_told_afterwards(watch, clock, call):
    def tell():
        watch.remove_asker(tell)
        watch.book("gc", 3)

    def fetch():
        clock.spend()
        watch.add_asker(tell)

    call(watch, fetch)


def with_an_asker_that_stays(watch, clock, call):
    watch.add_asker(lambda: watch.ask_again(0, 0))
    call(watch, clock.spend)


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
        watch, clock = make()
        program(watch, clock, call)
        assert watch.opened == []
        total = watch.booked_ns
        taken.append(watch.take())
        assert sum(taken[-1].values()) == total > 0
        assert watch.take() == {}
    assert taken[0] == taken[1]


def test_what_is_fetched_comes_back_and_an_error_leaves_nothing_open():
    watch, clock = make()
    assert watch.wait(max, 1, 2) == 2

    def end():
        clock.spend()
        raise StopIteration

    with pytest.raises(StopIteration):
        watch.wait(end)
    assert (watch.opened, watch.take()) == ([], {INPUT_WAIT: 10})


def test_a_wait_calls_an_asker_only_when_it_is_due():
    watch, clock = make()
    asked = []

    def ask():
        asked.append(clock.now_ns)
        watch.ask_again(clock.now_ns + 100, longer_than_ns=50)

    watch.add_asker(ask)
    watch.wait(clock.spend)  # nobody has asked it yet
    assert asked == [0, 10]
    for _ in range(5):
        watch.wait(clock.spend)
    assert asked == [0, 10]
    watch.wait(lambda: clock.spend(51))  # longer than it wants to sleep
    assert asked == [0, 10, 111]
    clock.spend(100)
    watch.wait(clock.spend)  # the moment has come
    assert asked == [0, 10, 111, 211, 221]
    assert watch.take() == {INPUT_WAIT: 121}
    watch.remove_asker(ask)
    watch.wait(clock.spend)
    assert len(asked) == 6  # the last time by `take`


def test_an_interrupt_before_anything_was_opened_closes_nothing_else():
    def interrupted():
        raise KeyboardInterrupt

    watch = Stopwatch(interrupted)
    with pytest.raises(KeyboardInterrupt):
        watch.wait(list)
    assert watch.opened == []


def test_an_owner_gets_what_it_takes_of_what_is_opened_inside():
    now = [0]
    watch = Stopwatch(lambda: now[0])
    plotter = Owner("callback:Plotter", {"predict", "tracing:library", "computing"})
    predict = Owner("predict:train.py:9", {"input_wait", "gc"})

    def pass_by(nanoseconds):
        now[0] += nanoseconds

    watch.open("callback:Plotter", owner=plotter)
    pass_by(1)
    watch.open("predict:train.py:9", owner=predict)
    pass_by(2)
    assert watch.booked_as("gc") == "callback:Plotter"
    watch.open("tracing:library")
    pass_by(4)
    watch.close()
    watch.open("computing")
    pass_by(8)
    watch.close()
    watch.open("tracing:first")  # neither takes it
    pass_by(16)
    watch.close()
    watch.close()
    assert watch.booked_as("gc") == "gc"
    pass_by(32)
    assert watch.take() == {"callback:Plotter": 47, "tracing:first": 16}
    watch.close()
    assert watch.owners == []
    assert predict.parts == {
        "predict:train.py:9": 2,
        "tracing:library": 4,
        "computing": 8,
        "tracing:first": 16,
    }


def test_what_a_call_computes_in_the_loop_is_the_steps_own_work():
    now = [0]
    watch = Stopwatch(lambda: now[0])
    watch.open("predict:train.py:9", owner=Owner("predict:train.py:9", {"input_wait"}))
    now[0] = 5
    watch.open("computing")
    now[0] = 25
    watch.book("input_wait", 3)
    watch.close()
    watch.close()
    assert watch.take() == {"predict:train.py:9": 8}


def test_a_thread_is_claimed_for_now_only_where_none_is():
    clock = Clock()
    watch = Stopwatch(clock)
    assert watch.claim_free()
    assert not watch.claim_free()
    watch.open(INPUT_WAIT)
    clock.spend()
    watch.close()
    watch.release()
    assert (watch.is_mine(), watch.take()) == (False, {})
