"""Models are saved, loaded, copied, and exported with the monitor as without."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

from integration.training_host import Training, TrainingHost
from of_a_kind import few

pytestmark = pytest.mark.tensorflow

_SECONDS = 180.0
"""How long a program may take on a busy machine."""

PROGRAM = """
import contextlib, saving_program
folder, monitor = Path(given["folder"]), given["monitor"]
callbacks = (
    (lambda: [tbslow.keras.SlowdownCallback(logdir)]) if monitor == "callback" else lambda: []
)
with tbslow.start(logdir) if monitor == "start" else contextlib.nullcontext():
    act = getattr(saving_program, given["act"])
    print(*act(folder, callbacks), sep="\\n")
"""
MONITORS = ("start", "callback")
LOADS = (("none", "none"), ("none", "start"), ("start", "none"))
"""Who saved, and who loads."""


class Told(dict[str, list[str]]):
    """What each program said: "save start", say, and "load start none"; run when asked for."""

    def __init__(self, host: TrainingHost, root: Path) -> None:
        super().__init__()
        self._host = host
        self._root = root

    def __missing__(self, name: str) -> list[str]:
        act, saved, *by = name.split()
        if act == "load":
            self[f"save {saved}"]
        monitor = by[0] if by else saved
        training = self._host.start(
            PROGRAM,
            self._root / f"logs-{act}-{saved}-{monitor}",
            act=act,
            folder=str(self._root / saved),
            monitor=monitor,
        )
        self[name] = said = _said_by(training, self._root)
        return said


@pytest.fixture(scope="module")
def told(host: TrainingHost, tmp_path_factory: pytest.TempPathFactory) -> Told:
    return Told(host, tmp_path_factory.mktemp("saving"))


def _said_by(training: Training, root: Path) -> list[str]:
    done = training.wait(_SECONDS)
    assert done.returncode == 0, done.stderr
    text = re.sub(rf"{root}/\w+", "", done.stdout)
    return re.sub(r"0x[0-9a-f]+", "0x", text).splitlines()


@pytest.mark.parametrize("monitor", few(MONITORS, "start"))
def test_results_errors_and_warnings_of_saving_and_copying_are_the_same(
    told: Told, monitor: str
) -> None:
    assert told[f"save {monitor}"] == told["save none"]


@pytest.mark.parametrize(("saved", "by"), LOADS[1:])
def test_what_one_saved_the_other_loads_and_trains_on(told: Told, saved: str, by: str) -> None:
    assert told[f"load {saved} {by}"] == told["load none none"]


def test_the_program_tells_what_can_differ(told: Told) -> None:
    saved = "\n".join(told["save none"])
    for kind in ("functional", "sequential", "subclassed"):
        assert f"{kind} fit: {{'loss': [" in saved
        assert f"{kind} recompile: UserWarning" in saved
        assert f"{kind} wrong name: ValueError: Invalid filepath extension" in saved
        assert f"{kind} pickle: True" in saved
        loaded = next(line for line in told["save none"] if f"{kind} load model.keras: " in line)
        assert "'compiled': True" in loaded
        assert "{'loss': " in loaded
    served = [line for line in told["load start none"] if "exported: " in line or "saved: " in line]
    assert len(served) == 6
    assert all(line.endswith(", False, False]") for line in served)  # nothing of ours in the file
    assert (
        sum(line.startswith("pickle ") and line.endswith(", True)") for line in told["save none"])
        == 8
    )
