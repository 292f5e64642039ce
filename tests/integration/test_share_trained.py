"""What a program has that is private does not come into the archive of its run.

It trains for real, with secrets planted wherever a program can have one.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import pytest
from integration.tensorboard_process import LOADERS, TensorBoardProcess

from tb_slowdown_plugin.reader.event_files import find_event_files, read_records
from tb_slowdown_plugin.records.metadata import (
    DICTIONARY,
)

pytestmark = pytest.mark.tensorflow

USER = "ada-lovelace"
PLANTED = {
    "user name": USER,
    "home and working directory": "planted-home",
    "environment variable": "hunter2-in-the-environment",
    "argument of the process": "swordfish-on-the-command-line",
    "text given to a tf.function": "patient-0815-as-an-argument",
    "text in a tensor": "patient-4711-in-a-tensor",
    "name of a data file": "planted-data-file",
    "name of a checkpoint directory": "planted-checkpoints",
}
TRAIN = """\
import os, sys
import tensorflow as tf
import tbslow

logdir, secret, home = sys.argv[1], sys.argv[2], os.getcwd()
lines = os.path.join(home, "planted-data-file.txt")
with open(lines, "w") as file:
    file.write("1 patient-4711-in-a-tensor\\n" * 64)
weights = tf.Variable(tf.ones([8, 8]))
checkpoint = tf.train.Checkpoint(weights=weights)

@tf.function
def train_step(text, label, rate):
    weights.assign_sub(rate * tf.ones([8, 8]))
    return tf.strings.length(text) + tf.strings.length(tf.constant(label))

with tbslow.start(logdir):
    for epoch in range(2):
        for number, text in enumerate(tbslow.data(tf.data.TextLineDataset(lines))):
            if number == 3 and epoch == 0:
                tf.profiler.experimental.start(logdir)
            with tbslow.summary.step():
                with tbslow.summary.phase("forward"):
                    train_step(text, "patient-0815-as-an-argument" + "!" * (number % 4), 0.1)
            if number == 6 and epoch == 0:
                tf.profiler.experimental.stop()
        with tbslow.summary.phase("checkpoint"):
            checkpoint.save(os.path.join(home, "planted-checkpoints", secret))
"""


@pytest.fixture(scope="module")
def logdir(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a run in the planted user's home."""
    home = tmp_path_factory.mktemp("machine") / "planted-home" / USER
    home.mkdir(parents=True)
    (home / "train.py").write_text(TRAIN)
    logs = home / "logs"
    environment = {
        **os.environ,
        "USER": USER,
        "LOGNAME": USER,
        "HOME": str(home),
        "TOKEN": PLANTED["environment variable"],
        "PYTHONPATH": str(root),
    }
    subprocess.run(
        [sys.executable, str(home / "train.py"), str(logs / "run1"),
         PLANTED["argument of the process"]],
        cwd=home, env=environment, check=True, capture_output=True,
    )  # fmt: skip
    return logs


def share(logdir: Path, target: Path, *flags: str) -> str:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tb_slowdown_plugin",
            "share",
            str(logdir),
            "-o",
            str(target),
            *flags,
        ],
        env={**os.environ, "USER": USER, "LOGNAME": USER},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def copy(logdir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive, unpacked somewhere else."""
    folder = tmp_path_factory.mktemp("elsewhere")
    share(logdir, folder / "run.zip")
    with zipfile.ZipFile(folder / "run.zip") as archive:
        archive.extractall(folder / "copy")
    return folder / "copy"


def contents(logdir: Path) -> bytes:
    """All bytes of a directory: of its names, its files, and what is compressed in its records."""
    held = [str(path.relative_to(logdir)).encode() for path in logdir.rglob("*")]
    held += [path.read_bytes() for path in logdir.rglob("*") if path.is_file()]
    for file in find_event_files(logdir, pytest.fail):
        held += [unpacked(record.payload) for record in read_records(file, pytest.fail, int)]
    return b"\0".join(held)


def unpacked(payload: bytes) -> bytes:
    return zlib.decompressobj(zdict=DICTIONARY).decompress(payload)


def test_nothing_planted_is_in_the_archive(copy: Path) -> None:
    held = contents(copy)
    assert b"train_step" in held  # else nothing was looked into
    assert b"train.py" in held
    found = [what for what, secret in PLANTED.items() if secret.encode() in held]
    assert found == []
    host = socket.gethostname()
    if len(host) >= 3 and host != "localhost":
        assert host.encode() not in held
    assert not re.search(rb"/(?:home|root|tmp|Users)/\w", held)


def test_the_planted_secrets_were_there_to_be_found(logdir: Path) -> None:
    """The capture, which stays out unless asked for, holds the host's name."""
    (capture,) = logdir.rglob("*.xplane.pb")
    assert capture.name.startswith(socket.gethostname())
    assert (logdir.parent / "planted-checkpoints").is_dir()


def test_captures_leave_the_host_behind_and_it_says_what_is_not_checked(
    logdir: Path, tmp_path: Path
) -> None:
    said = share(logdir, tmp_path / "run.zip", "--with-captures")
    assert "Not checked: 1 file of profiler captures, but for host names" in said
    with zipfile.ZipFile(tmp_path / "run.zip") as archive:
        (capture,) = [name for name in archive.namelist() if name.endswith(".xplane.pb")]
        held = archive.read(capture)
    assert b"train_step" in held
    assert socket.gethostname() not in capture
    if len(socket.gethostname()) >= 3 and socket.gethostname() != "localhost":
        assert socket.gethostname().encode() not in held


@pytest.mark.parametrize("loader", list(LOADERS))
def test_tensorboard_serves_the_copy(copy: Path, tmp_path: Path, loader: str) -> None:
    with TensorBoardProcess(["--logdir", str(copy), *LOADERS[loader]], tmp_path) as process:
        process.wait_until("the run is read", lambda: "run1" in process.runs())
        (served,) = process.slowdown("report", run="run1").json["runs"]
    done = subprocess.run(
        [sys.executable, "-m", "tb_slowdown_plugin", "report", str(copy), "--format", "json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert served == json.loads(done.stdout)["runs"][0]
    assert served["steps"] == 128
