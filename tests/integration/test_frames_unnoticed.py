"""No frame of the monitor is where a program or its reader sees frames."""

from __future__ import annotations

import pytest

pytest.importorskip("tensorflow")

from integration.training_host import TrainingHost

pytestmark = pytest.mark.tensorflow

_SECONDS = 180.0
"""How long a program may take on a busy machine."""

PROGRAM = """
import contextlib, frames_program
callbacks = lambda: [tbslow.keras.SlowdownCallback(logdir)] if given["watched"] else []
with tbslow.start(logdir) if given["watched"] else contextlib.nullcontext():
    print(*frames_program.run(Path(given["folder"]), callbacks), sep="\\n")
"""


@pytest.fixture(scope="module")
def told(host: TrainingHost, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """What the program said without the monitor, and with it."""
    running = {}
    for watched in (False, True):
        folder = tmp_path_factory.mktemp("frames")  # one each: they save at the same time
        running[folder] = host.start(PROGRAM, folder / "logs", folder=str(folder), watched=watched)
    done = {folder: training.wait(_SECONDS) for folder, training in running.items()}
    plain, seen = (each.stdout.replace(str(folder), "") for folder, each in done.items())
    assert not any(each.returncode for each in done.values()), [e.stderr for e in done.values()]
    return plain, seen


def test_errors_warnings_and_stacks_are_the_same(told: tuple[str, str]) -> None:
    plain, seen = told
    assert seen.splitlines() == plain.splitlines()


def test_the_program_sees_stacks_everywhere(told: tuple[str, str]) -> None:
    plain, _ = told
    assert plain.count("Detected at node") >= 6
    for where in ("layer", "PyDataset", "on_train_batch_end", "build", "slots", "map"):
        assert f"\n{where}: " in plain
