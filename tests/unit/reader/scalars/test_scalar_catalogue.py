"""Runs from scalars through a data provider: what the list asks for, and what a run does."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from tensorboard.data import provider

from tb_slowdown_plugin.reader.scalars.scalar_catalogue import ScalarCatalogue

STARTED = 1_795_000_000.5


class MemoryProvider:
    """Scalars in memory; counts the series whose last point, or all points, were read."""

    def __init__(self) -> None:
        self.points: dict[str, dict[str, list[provider.ScalarDatum]]] = defaultdict(dict)
        self.asked: list[tuple[str, int]] = []

    def write(self, run: str, tag: str, steps: range, seconds: float = 1.0) -> None:
        self.points[run][tag] = [
            provider.ScalarDatum(step=step, wall_time=STARTED + seconds * step, value=0.5)
            for step in steps
        ]

    def read_last_scalars(self, ctx: Any, *, run_tag_filter: Any, **_: Any) -> Any:
        found = self._filter(run_tag_filter)
        self.asked.append(("last", sum(map(len, found.values()))))
        return {run: {tag: data[-1] for tag, data in of.items()} for run, of in found.items()}

    def read_scalars(self, ctx: Any, *, run_tag_filter: Any, downsample: int, **_: Any) -> Any:
        found = self._filter(run_tag_filter)
        self.asked.append(("all", sum(map(len, found.values()))))
        return found

    def _filter(self, wanted: Any) -> dict[str, dict[str, list[provider.ScalarDatum]]]:
        return {
            run: {tag: d for tag, d in of.items() if wanted.tags is None or tag in wanted.tags}
            for run, of in self.points.items()
            if wanted.runs is None or run in wanted.runs
        }


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def source() -> MemoryProvider:
    return MemoryProvider()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def catalogue(source: MemoryProvider, clock: Clock) -> ScalarCatalogue:
    return ScalarCatalogue(source, clock)


def test_the_list_reads_one_point_of_each_run(
    source: MemoryProvider, catalogue: ScalarCatalogue, clock: Clock
) -> None:
    for run in range(100):
        for tag in ("loss", "accuracy", "learning_rate"):
            source.write(f"run{run}", tag, range(50))
    assert len(catalogue.listing(list(source.points), ())) == 100
    catalogue.listing(list(source.points), ())
    catalogue.listing(list(source.points), ())
    assert source.asked == [("last", 300), ("last", 100), ("last", 100)]
    clock.now += 60.0  # another scalar may have become the one to follow
    catalogue.listing(list(source.points), ())
    assert source.asked[-1] == ("last", 300)


def test_runs_with_records_are_not_asked_for(
    source: MemoryProvider, catalogue: ScalarCatalogue
) -> None:
    source.write("a", "loss", range(50))
    source.write("b/train", "loss", range(50))
    assert catalogue.listing(["a", "a/slowdown", "b/train", "b/slowdown"], {"a", "b"}) == {}
    assert source.asked == []


def test_a_run_is_followed_as_it_grows(source: MemoryProvider, catalogue: ScalarCatalogue) -> None:
    source.write("run/train", "loss", range(50))
    source.write("run/validation", "loss", range(0, 51, 10))
    before = catalogue.listing(list(source.points), ())["run"]
    assert (before.followed, before.last.step) == (("run/train", "loss"), 49)
    first = catalogue.run("run")
    assert catalogue.run("run") is first
    source.write("run/train", "loss", range(80))
    after = catalogue.listing(list(source.points), ())["run"]
    assert before.version != after.version
    assert after.last.time == STARTED + 79
    assert len(catalogue.run("run").steps) == 79


def test_a_run_that_appears_or_goes_is_listed_so(
    source: MemoryProvider, catalogue: ScalarCatalogue
) -> None:
    source.write("a", "loss", range(50))
    assert list(catalogue.listing(["a", "b"], ())) == ["a"]
    source.write("b", "loss", range(50))
    assert list(catalogue.listing(["a", "b"], ())) == ["a", "b"]
    del source.points["a"]
    assert list(catalogue.listing(["b"], ())) == ["b"]
    with pytest.raises(KeyError):
        catalogue.run("a")


def test_what_the_list_says_of_a_run_needs_no_other_point(
    source: MemoryProvider, catalogue: ScalarCatalogue
) -> None:
    source.write("run", "loss", range(0, 5000, 10))
    catalogue.listing(["run"], ())
    extent = catalogue.extents(["run", "other"])["run"]
    assert (extent.steps, extent.last_step, extent.first_step) == (4990, 4990, None)
    assert [what for what, _ in source.asked] == ["last"]


def test_only_as_many_tags_are_read_as_a_report_can_use(
    source: MemoryProvider, catalogue: ScalarCatalogue
) -> None:
    for layer in range(300):
        source.write("run", f"gradients/layer_{layer}", range(10))
        source.write("run", f"epoch_layer_{layer}", range(5))
    source.write("run", "loss", range(50))
    catalogue.listing(["run"], ())
    assert len(catalogue.run("run").steps) == 9
    assert source.asked[-1] == ("all", 64)


def test_hostile_points_are_left_out(source: MemoryProvider, catalogue: ScalarCatalogue) -> None:
    source.write("run", "loss", range(50))
    hostile = [(1 << 60, 5.0), (3, float("nan")), (4, 1e300)]
    source.points["run"]["loss"][10:10] = [
        provider.ScalarDatum(step=step, wall_time=time, value=0.0) for step, time in hostile
    ]
    source.points["bad"]["loss"] = [
        provider.ScalarDatum(step=1 << 60, wall_time=STARTED, value=0.0)
    ]
    assert list(catalogue.listing(["run", "bad"], ())) == ["run"]
    assert len(catalogue.run("run").steps) == 49
