"""The annotation of steps in a capture: opened, closed, and given up after a failure."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.writer.steps.profiler_annotation import StepTrace, find_profiler


class Annotation:
    def __init__(self, log: list[str], name: str) -> None:
        self.log, self.name = log, name
        log.append(f"begin {name}")

    def __exit__(self, *error: object) -> None:
        self.log.append(f"end {self.name}")


def test_each_step_is_opened_and_closed_once() -> None:
    log: list[str] = []
    trace = StepTrace(lambda kind, number: Annotation(log, f"{kind} {number}"))
    trace.open("train", 5)
    assert trace.is_open
    trace.close()
    trace.close()
    assert log == ["begin train 5", "end train 5"]
    assert not trace.is_open


def test_after_a_failure_no_step_is_annotated() -> None:
    asked: list[int] = []

    def annotate(_: str, number: int) -> Annotation:
        asked.append(number)
        raise RuntimeError("no profiler")

    trace = StepTrace(annotate)
    for number in range(3):
        trace.open("train", number)
        assert not trace.is_open
        trace.close()
    assert asked == [0]
    StepTrace(None).open("train", 1)


@pytest.mark.tensorflow
def test_a_profiler_that_is_on_is_seen(tmp_path) -> None:
    tf = pytest.importorskip("tensorflow")
    is_profiled = find_profiler()
    assert not is_profiled()
    tf.profiler.experimental.start(str(tmp_path))
    try:
        assert is_profiled()
    finally:
        tf.profiler.experimental.stop(save=False)
    assert not is_profiled()
