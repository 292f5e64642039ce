"""Spans that nest: each has its own seconds."""

from __future__ import annotations


def test_each_span_gets_only_its_own_seconds(time, watch, spans) -> None:
    outer = spans.open("tracing:again")
    time.spend(1.0)
    inner = spans.open("tracing:first")
    time.spend(0.25)
    assert spans.close(inner) == 250_000_000
    time.spend(0.5)
    assert spans.so_far_ns(outer) == 1_500_000_000
    assert spans.close(outer) == 1_500_000_000
    assert dict(watch.take()) == {"tracing:again": 1_500_000_000, "tracing:first": 250_000_000}


def test_what_was_left_open_inside_is_closed(time, watch, spans) -> None:
    outer = spans.open("tracing:again")
    watch.open("gc")
    time.spend(0.5)
    spans.close(outer)
    assert watch.depth == 0


def test_a_span_may_have_begun_earlier(time, spans) -> None:
    since = time.now
    time.spend(2.0)
    span = spans.open("tracing:again", since_ns=since)
    time.spend(1.0)
    assert spans.close(span) == 3_000_000_000
