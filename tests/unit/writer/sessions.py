"""Sessions that a test turns by hand, and what they are given to write."""

from __future__ import annotations

from tb_slowdown_plugin.records.codec import decode
from tb_slowdown_plugin.writer.session import WriterSession


class Counting:
    """Counts its readings."""

    name = "counting"

    def __init__(self):
        self.reads = 0

    def start(self, context):
        self.context = context

    def stop(self):
        pass

    def read(self):
        self.reads += 1
        return {"rss_bytes": float(self.reads)}


def session_of(run, *collectors, sink=None, **arguments):
    session = WriterSession(run.recorder, sink or run.sink, "0badcafe", collectors, **arguments)
    session.start()
    return session


def turn(session):
    """What both threads in the background do; the seconds until one of them is due again."""
    return min(session.sample(), session.tick())


def chunks(sink):
    return [decode(record) for record in sink.records]


def live(run, session, seconds, step_seconds):
    """Trains for a while, with the background thread on time."""
    end = run.time.monotonic_ns + round(seconds * 1e9)
    tick_at = run.time.monotonic_ns
    while run.time.monotonic_ns < end:
        if run.time.monotonic_ns >= tick_at:
            tick_at = run.time.monotonic_ns + round(turn(session) * 1e9)
        run.step(step_seconds)
