"""The garbage collector and TensorFlow's threads."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tb_slowdown_plugin.collectors.system.kernel_files import quota_cores
from tb_slowdown_plugin.writer.launch.interventions import process
from tb_slowdown_plugin.writer.launch.interventions.process import GcFrozen, threads_to_try


def test_objects_are_frozen_once_after_5_steps() -> None:
    frozen = gc.get_freeze_count()
    intervention = GcFrozen(200)
    intervention.install()
    try:
        for finished in range(1, 5):
            intervention.after_step(finished)
        assert (gc.get_freeze_count(), intervention.applied) == (frozen, 0)
        intervention.after_step(5)
        assert gc.get_freeze_count() > frozen
        intervention.after_step(6)
        assert intervention.applied == 1
    finally:
        gc.unfreeze()


@pytest.mark.parametrize(
    ("cores", "quota", "threads"),
    [(8, None, 4), (64, 4.0, 4), (64, 4.7, 4), (2, 0.5, 1), (4, 4.0, 2), (1, None, None)],
)
def test_as_many_threads_as_the_quota_has_or_half_of_the_cores(
    cores: int, quota: float | None, threads: int | None
) -> None:
    assert threads_to_try(cores, quota) == threads


@pytest.mark.parametrize(
    ("cores", "quota", "chosen", "threads"),
    [(8, None, 1, 8), (64, 4.7, 1, 4), (8, None, 0, 4), (8, None, 8, 4), (8, None, 16, 4)],
)
def test_one_for_each_core_where_the_program_has_chosen_fewer(
    cores: int, quota: float | None, chosen: int, threads: int
) -> None:
    assert threads_to_try(cores, quota, chosen) == threads


@pytest.mark.tensorflow
def test_threads_that_the_environment_has_set_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    tf = pytest.importorskip("tensorflow")
    from tensorflow.python.framework import config

    given: list[int] = []
    monkeypatch.setattr(process, "quota_cores", lambda: None)
    monkeypatch.setattr(process.os, "sched_getaffinity", lambda _: range(8), raising=False)
    monkeypatch.setattr(config, "set_intra_op_parallelism_threads", given.append)
    if tf.config.threading.get_intra_op_parallelism_threads():
        pytest.skip("the process has set its own")
    for threads in ("", "4", "16"):
        monkeypatch.setenv("TF_NUM_INTRAOP_THREADS", threads)
        trial = process.Threads(200)
        monkeypatch.setattr(trial.hooks, "replace", lambda *_: None)
        trial.install()
    assert given == [4, 8, 4]


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("first", "chosen", "said"),
    [
        ("", (1, 64), []),
        ("tf.ones(3)", (), ["TensorFlow's threads had been started before"]),
    ],
    ids=["in time", "too late"],
)
def test_threads_are_set_before_tensorflow_starts_them_and_as_the_program_sets_its_own(
    root: Path, first: str, chosen: tuple[int, ...], said: list[str]
) -> None:
    pytest.importorskip("tensorflow")
    cores = len(os.sched_getaffinity(0))
    if cores < 2:
        pytest.skip("the process has one core")
    program = (
        "import tensorflow as tf\n"
        "from tb_slowdown_plugin.collectors.base import Unavailable\n"
        "from tb_slowdown_plugin.writer.launch.interventions.process import Threads\n"
        "threading = tf.config.threading\n"
        f"{first}\n"
        "threads = Threads(200)\n"
        "try:\n"
        "    threads.install()\n"
        "except Unavailable as error:\n"
        "    print(error)\n"
        "print(threads.applied, threading.get_intra_op_parallelism_threads())\n"
        f"for number in {chosen}:\n"
        "    threading.set_intra_op_parallelism_threads(number)\n"
        "    print(threads.applied, threading.get_intra_op_parallelism_threads())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=False
    )
    lines = done.stdout.splitlines()
    assert lines[: len(said)] == said, done.stderr
    set_to = [threads_to_try(cores, quota_cores(), number) for number in (None, *chosen)]
    assert lines[len(said) :] == (["0 0"] if first else [f"{each} {each}" for each in set_to])
