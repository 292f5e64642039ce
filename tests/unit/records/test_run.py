"""A run finds its events by kind and its facts by name."""

from dataclasses import replace

from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import (
    Environment,
    Epoch,
    Event,
    Fact,
    Idle,
    no_signals,
    no_steps,
)

EVENTS = (
    Event(0, 1.0, Epoch(0)),
    Event(2, 2.0, Fact("note", "first")),
    Event(3, 3.0, Fact("call", "predict")),
    Event(5, 4.0, Epoch(1)),
    Event(5, 4.0, Fact("note", "second")),
)
RUN = Run("run", no_steps(), no_signals(), EVENTS, Environment(), ())


def test_events_of_a_kind_come_with_their_rows_in_their_order():
    assert RUN.all_of(Epoch) == ((0, Epoch(0)), (5, Epoch(1)))
    assert RUN.all_of(Idle) == ()


def test_facts_of_a_name_come_with_their_rows_in_their_order():
    assert RUN.facts("note") == ((2, Fact("note", "first")), (5, Fact("note", "second")))
    assert RUN.facts("other") == ()


def test_a_run_with_other_events_finds_those():
    assert RUN.facts("call")
    assert replace(RUN, events=EVENTS[:2]).facts("call") == ()
