"""Small jitted functions that XLA compiles again, and what a recording tells of them."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.records.types import Fact

tf = pytest.importorskip("tensorflow")

COMPILES_NS = 1_000_000
"""What XLA takes at least for the smallest graph, beyond a run of it: 7 ms, and less where that run
was held up. A call that compiles nothing is not booked at all."""


def compiled_in(recording, calls):
    """Seconds booked to XLA in each of some calls, and everything else that was booked."""
    seconds, others = [], []
    recording.stopwatch.take()
    for call in calls:
        call()
        booked = recording.stopwatch.take()
        seconds.append(booked.pop("xla_compilation", 0))
        others.append({name for name, ns in booked.items() if ns})
    return seconds, others


def make_step(**options):
    return tf.function(
        lambda x: tf.reduce_sum(tf.sin(x)), jit_compile=True, autograph=False, **options
    )


def rows(*counts):
    return [tf.ones((count, 3)) for count in counts]


def window_step(x):
    """A jitted step that cuts a window out of `x`, at a place that XLA has to know."""

    @tf.function(jit_compile=True, autograph=False)
    def step(begin):
        return tf.reduce_sum(tf.slice(x, [begin, 0], [4, 3]))

    return step


def compilations(recording):
    """What XLA was seen to compile again; not what is known of each function."""
    facts = recording.of(Fact)
    return [fact for fact in facts if fact.name not in ("function_options", "called_at")]
