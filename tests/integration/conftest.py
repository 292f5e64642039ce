"""The host of training programs: TensorFlow is imported once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from integration.training_host import Finished, TrainingHost


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TrainingHost]:
    from integration.training_host import training_host

    with training_host(tmp_path_factory.mktemp("host")) as host:
        yield host


@pytest.fixture
def run(host: TrainingHost, tmp_path: Path) -> Callable[..., Finished]:
    """Runs a program that trains into `tmp_path / "run"`, to its end."""
    return lambda body, **given: host.run(body, tmp_path / "run", **given)


@pytest.fixture
def no_monitor_is_left() -> Iterator[None]:
    """Ends what a test in this process has started."""
    import tbslow
    from tb_slowdown_plugin.writer.monitor import active

    yield
    tbslow.stop()
    assert active() is None
