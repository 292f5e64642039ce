"""What tests share: programs that train, and two runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from event_files import make_steps, split, write_chunks

if TYPE_CHECKING:
    from integration.training_host import Finished, TrainingHost
    from integration.turned_slow import TurnedSlow


@pytest.fixture
def run(host: TrainingHost, tmp_path: Path) -> Callable[..., Finished]:
    """Runs a program that trains into `tmp_path / "run"`, to its end."""
    return lambda body, **given: host.run(body, tmp_path / "run", **given)


@pytest.fixture(scope="session")
def turned_slow(tmp_path_factory: pytest.TempPathFactory) -> TurnedSlow:
    """Two trainings that turned slow, as TensorBoard and `tbslow watch` told of them."""
    from integration.turned_slow import train_watched

    return train_watched(tmp_path_factory.mktemp("turned"))


@pytest.fixture(scope="session")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A logdir of `healthy`, and `slow`, which loses 5 s of 25 s to garbage collection."""
    root = tmp_path_factory.mktemp("logs")
    healthy = make_steps(400, seconds=0.05)
    write_chunks(root / "healthy" / "slowdown", split(healthy))
    slow = make_steps(400, seconds=0.05)
    collecting = slow.number % 10 == 9
    slow.period_seconds[collecting] += 0.125
    slow.ended[:] = slow.ended[0] + slow.period_seconds.cumsum() - slow.period_seconds[0]
    slow = replace(slow, accounts={"gc": collecting * 0.125})
    write_chunks(root / "slow" / "slowdown", split(slow))
    return root


@pytest.fixture
def no_monitor_is_left() -> Iterator[None]:
    """Ends what a test in this process has started."""
    import tbslow
    from tb_slowdown_plugin.writer.monitor import active

    yield
    tbslow.stop()
    assert active() is None
