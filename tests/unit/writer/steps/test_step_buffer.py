"""What waits to be written: three queues with a bound, and nothing in a forked child."""

from __future__ import annotations

from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.records.types import Fact
from tb_slowdown_plugin.writer.steps.step_buffer import (
    MAX_PENDING_STEPS,
    Opening,
    Pending,
    is_cpu_known,
)


def pending() -> Pending:
    return Pending(Clock(unix_seconds=lambda: 1.8e9))


def row(number: int, cpu: int | None = None):
    return (number, number, 0, 1, cpu, cpu, None, "train", None, 0, 0)


def test_events_and_samples_stand_in_the_step_under_way() -> None:
    queue = pending()
    queue.rows = 7
    queue.emit(Fact("a", "b", {}))
    queue.emit_at(3, Fact("c", "d", {}))
    queue.add_sample({"rss_bytes": 1.0})
    assert [(event.row, event.time) for event in queue.events] == [(7, 1.8e9), (3, 1.8e9)]
    assert queue.samples[0] == (1.8e9, 7, {"rss_bytes": 1.0})


def test_the_oldest_steps_go_where_nobody_takes_them() -> None:
    queue = pending()
    queue.entries.extend(row(number) for number in range(MAX_PENDING_STEPS + 5))
    assert len(queue.entries) == MAX_PENDING_STEPS
    assert queue.entries[0][0] == 5  # type: ignore[index]


def test_a_silenced_queue_keeps_nothing() -> None:
    queue = pending()
    queue.silence()
    queue.entries.append(row(1))
    queue.emit(Fact("a", "b", {}))
    queue.add_sample({"x": 1.0})
    assert (len(queue.entries), len(queue.events), len(queue.samples)) == (0, 0, 0)


def test_cpu_time_is_known_where_it_was_read_or_need_not_be() -> None:
    assert is_cpu_known(Opening(1, None, None))
    assert is_cpu_known(row(1, cpu=5))
    assert not is_cpu_known(row(1))
