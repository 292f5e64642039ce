"""Disks that fail, fill up, dawdle and disappear under a program that trains.

The errors are real: a filesystem of ours answers the kernel with them, or a small tmpfs is full.
"""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

from integration.failing_filesystem import mounted
from integration.written import chunks, failures, numbers

pytestmark = pytest.mark.tensorflow

STEPWISE = """
monitor = tbslow.start(logdir)
for line in given["stages"]:
    train(100)
    monitor.flush()
    os.write(1, line.encode())
    while not Path(given["go"] + line).exists():
        time.sleep(0.005)
train(100)
monitor.stop()
print("trained")
"""


@pytest.mark.parametrize("error", ["EIO", "ENOSPC", "EDQUOT", "EROFS"])
def test_a_disk_that_fails_for_a_while_costs_one_warning_and_no_step(
    host, tmp_path: Path, error: str
) -> None:
    with mounted(tmp_path) as disk:
        run = disk.path / "run"
        training = host.start(STEPWISE, run, stages=["a", "b"], go=str(tmp_path / "go-"))
        training.wait_for("a")
        disk.tell(write=error, create=error)
        (tmp_path / "go-a").touch()
        training.wait_for("b")
        disk.tell()
        (tmp_path / "go-b").touch()
        finished = training.wait()
        assert finished.stdout == "abtrained\n", finished.stderr
        assert len(finished.warnings) == 1, finished.stderr
        assert "writing failed" in finished.warnings[0]
        assert numbers(run) == [*range(100)] * 3
        assert [failure.part for failure in failures(run)] == ["writing"]


def test_training_does_not_wait_for_a_slow_disk(host, tmp_path: Path) -> None:
    """A write takes 1 s, a step 2 ms: no step may be of a write's size."""
    body = """
    with tbslow.start(logdir) as monitor:
        began = time.monotonic()
        while time.monotonic() - began < 4.0:
            with tbslow.summary.step():
                time.sleep(0.002)
        print("trained", flush=True)
        Path(given["go"]).touch()
    """
    with mounted(tmp_path) as disk:
        disk.tell(slow_seconds=1.0)
        training = host.start(body, disk.path / "run", go=str(tmp_path / "go"))
        training.wait_for("trained")
        disk.tell()
        assert training.wait().warnings == []
        written = chunks(disk.path / "run")
    periods = [s for chunk in written for s in chunk.steps.period_seconds.tolist()]
    assert len(periods) > 100
    assert sum(period > 0.5 for period in periods) == 0


def test_a_fit_that_is_over_does_not_wait_for_a_write_that_hangs(host, tmp_path: Path) -> None:
    body = """
    import keras
    import numpy as np

    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x = np.ones((64, 4))
    callback = tbslow.keras.SlowdownCallback(logdir)
    began = time.monotonic()
    for _ in range(5):
        model.fit(x, x[:, :1], verbose=0, callbacks=[callback])
    print(f"trained {time.monotonic() - began < 20.0}", flush=True)
    """
    with mounted(tmp_path) as disk:
        disk.tell(slow_seconds=1000.0)
        training = host.start(body, disk.path / "run")
        training.wait_for("a write did not end")
        disk.tell()
        finished = training.wait()
        assert (finished.returncode, finished.stdout) == (0, "trained True\n"), finished.stderr


def test_a_program_ends_although_a_write_hangs(host, tmp_path: Path) -> None:
    body = "tbslow.start(logdir); train(600); time.sleep(1.2); print('trained', flush=True)"
    with mounted(tmp_path) as disk:
        disk.tell(slow_seconds=1000.0)
        training = host.start(body, disk.path / "run")
        training.wait_for("a write did not end")  # the kernel lets nobody go while it asks a disk
        disk.tell()
        finished = training.wait()
        assert (finished.returncode, finished.stdout) == (0, "trained\n"), finished.stderr


def fill(path: Path) -> None:
    with path.open("ab", buffering=0) as file:
        while True:
            file.write(bytes(1024))


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of 96 KB."""
    folder = tmp_path / "small"
    folder.mkdir()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"small", str(folder).encode(), b"tmpfs", 0, b"size=96k"):
        pytest.skip(f"no small disk: {os.strerror(ctypes.get_errno())}")
    yield folder
    libc.umount2(str(folder).encode(), 2)


def test_a_full_disk_leaves_nothing_behind_and_is_used_again_when_there_is_room(
    host, tmp_path: Path, small: Path
) -> None:
    training = host.start(STEPWISE, small / "run", stages=["a", "b"], go=str(tmp_path / "go-"))
    training.wait_for("a")
    (small / "theirs").write_bytes(b"")
    with pytest.raises(OSError, match="No space left"):
        fill(small / "theirs")
    files = sorted(path.stat().st_size for path in small.rglob("*tfevents*"))
    (tmp_path / "go-a").touch()
    training.wait_for("b")
    # A page that was begun has room for some bytes more: whole records, no half one.
    assert len(list(small.rglob("*tfevents*"))) == len(files)
    (small / "theirs").unlink()
    (tmp_path / "go-b").touch()
    finished = training.wait()
    assert finished.stdout == "abtrained\n", finished.stderr
    assert numbers(small) == [*range(100)] * 3


@pytest.mark.parametrize("by", ["folder", "file", "link"])
def test_a_logdir_that_is_replaced_costs_at_most_one_warning(host, tmp_path: Path, by: str) -> None:
    run, moved = tmp_path / "run", tmp_path / "moved"
    training = host.start(STEPWISE, run, stages=["a", "b"], go=str(tmp_path / "go-"))
    training.wait_for("a")
    run.rename(moved)
    if by == "folder":
        run.mkdir()
    elif by == "file":
        run.write_text("theirs")
    else:
        (tmp_path / "elsewhere").mkdir()
        run.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "go-a").touch()
    training.wait_for("b")
    if by == "file":
        assert run.read_text() == "theirs"
        run.unlink()
        run.mkdir()
    (tmp_path / "go-b").touch()
    finished = training.wait()
    assert finished.stdout == "abtrained\n", finished.stderr
    assert len(finished.warnings) == 1
    assert numbers(moved) == [*range(100)]
    assert numbers(run) == [*range(100)] * 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not write")
def test_a_directory_that_is_not_ours_to_write_costs_one_warning(host, tmp_path: Path) -> None:
    body = """
    os.chmod(Path(logdir).parent.parent, 0o755)
    os.setuid(65534)
    with tbslow.start(logdir) as monitor:
        for _ in range(3):
            train(10)
            monitor.flush()
    print("trained")
    """
    theirs = Path("/tmp") if os.access("/tmp", os.W_OK) else tmp_path
    folder = theirs / f"tbslow-{os.getpid()}"
    (folder / "logs").mkdir(parents=True)
    (folder / "logs").chmod(0o555)
    try:
        finished = host.run(body, folder / "logs/run")
    finally:
        shutil.rmtree(folder)
    assert finished.stdout == "trained\n", finished.stderr
    writing = [line for line in finished.warnings if "writing failed" in line]
    assert len(writing) == 1, finished.stderr  # others: it may not read its own libraries either
