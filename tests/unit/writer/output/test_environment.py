"""Workers by TF_CONFIG, limits, and nothing private."""

from __future__ import annotations

import getpass
import json
import re
import socket

import pytest

from tb_slowdown_plugin.errors import scrub
from tb_slowdown_plugin.writer.output.environment import (
    describe,
    find_gpus,
    find_host,
    find_memory_limit_bytes,
    find_worker,
)


def config(role, index, **cluster):
    return {"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": role, "index": index}})}


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, (0, 1)),
        ({"TF_CONFIG": ""}, (0, 1)),
        ({"TF_CONFIG": "not JSON"}, (0, 1)),
        ({"TF_CONFIG": "[]"}, (0, 1)),
        ({"TF_CONFIG": '{"task": {"index": "x"}}'}, (0, 1)),
        (config("worker", 0, worker=["a", "b"]), (0, 2)),
        (config("worker", 1, worker=["a", "b"]), (1, 2)),
        (config("chief", 0, chief=["c"], worker=["a", "b"]), (0, 3)),
        (config("worker", 1, chief=["c"], worker=["a", "b"]), (2, 3)),
        (config("evaluator", 0, chief=["c"], worker=["a"]), (2, 2)),
        (config("worker", -1, worker=["a"]), (0, 1)),
    ],
)
def test_the_worker_of_a_tf_config(variables, expected):
    assert find_worker(variables) == expected


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, {}),
        ({"TF_CONFIG": "not JSON"}, {}),
        (config("worker", 0, worker=["a:1"]), {}),
        (config("worker", 1, worker=["localhost:1", "localhost:2"]), {"host": 1, "host_class": 1}),
        (config("worker", 1, worker=["gpu-1:1", "gpu-2:1"]), {"host": 2, "host_class": 1}),
        (config("worker", 1, chief=["c:1"], worker=["gpu-1:1", "tpu-2:1"]),
         {"host": 3, "host_class": 3}),
        (config("worker", 1, worker=["10.0.0.1:1", "10.0.0.12:1"]), {"host": 2, "host_class": 1}),
        (config("evaluator", 0, chief=["c:1"], worker=["a:1"]), {}),
    ],
)  # fmt: skip
def test_the_host_of_a_tf_config_is_a_number_and_so_is_its_class(variables, expected):
    assert find_host(variables) == expected


MOUNT = "31 24 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"


@pytest.mark.parametrize(("text", "is_limited"), [("1048576\n", True), ("max\n", False)])
def test_the_memory_limit_is_that_of_the_group_of_the_process(tmp_path, text, is_limited):
    group = tmp_path / "sys/fs/cgroup/user.slice/train.service"
    proc = tmp_path / "proc/self"
    for folder in (group, proc):
        folder.mkdir(parents=True)
    (proc / "mountinfo").write_text(MOUNT)
    (proc / "cgroup").write_text("0::/user.slice/train.service\n")
    (group / "memory.max").write_text(text)
    machine = find_memory_limit_bytes(tmp_path / "no groups")
    assert machine is not None
    assert machine > 1 << 20
    assert find_memory_limit_bytes(tmp_path) == (1 << 20 if is_limited else machine)


@pytest.mark.tensorflow
def test_the_environment_tells_versions_devices_and_limits():
    tf = pytest.importorskip("tensorflow")
    environment = describe((), (1, 4))
    assert environment.versions["tensorflow"] == tf.__version__
    assert environment.versions["python"].startswith("3.")
    assert ("CPU:0", "CPU") in environment.devices
    assert environment.limits["cpu_count"] >= 1
    assert environment.limits["memory_limit_bytes"] > 1 << 20
    chosen = tf.config.threading.get_intra_op_parallelism_threads()
    assert environment.limits.get("intra_op_threads", 0) == chosen
    assert (environment.worker_index, environment.worker_count) == (1, 4)


@pytest.mark.tensorflow
def test_threads_that_the_environment_has_set_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    tf = pytest.importorskip("tensorflow")
    if tf.config.threading.get_intra_op_parallelism_threads():
        pytest.skip("the process has set its own")
    monkeypatch.setenv("TF_NUM_INTRAOP_THREADS", "3")
    monkeypatch.setenv("TF_NUM_INTEROP_THREADS", "many")
    limits = describe((), (0, 1)).limits
    assert limits["intra_op_threads"] == 3
    assert "inter_op_threads" not in limits


@pytest.mark.tensorflow
def test_the_environment_holds_neither_host_nor_user_nor_path():
    pytest.importorskip("tensorflow")
    text = repr(describe((), (0, 1)))
    for private in (f"/{getpass.getuser()}", "/usr", "/tmp", "/home"):
        assert private not in text
    # A host may be called "vm", which is in many a word.
    assert not re.search(rf"\b{re.escape(socket.gethostname())}\b", text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/ada/logs/events.1: No space left", "events.1: No space left"),
        ("~/logs/run1 is read-only", "run1 is read-only"),
        ("C:\\Users\\ada\\logs\\x.txt missing", "x.txt missing"),
        ("open('/data/secret project/x')", "open('x')"),
        ("gs://bucket/secret/run1 not found", "(address) not found"),
        ("3 of 4 failed, ratio 1/2", "3 of 4 failed, ratio 1/2"),
        ("train.py:41", "train.py:41"),
        ("models/net.py:7", "models/net.py:7"),
        ("x" * 500, "x" * 200),
    ],
)
def test_directories_and_addresses_are_left_out(text, expected):
    assert scrub(text) == expected


@pytest.mark.parametrize(
    ("variables", "found"),
    [
        ({}, {"machine_gpus": 2.0}),
        ({"CUDA_VISIBLE_DEVICES": "1"}, {"machine_gpus": 2.0}),
        ({"CUDA_VISIBLE_DEVICES": ""}, {}),
        ({"CUDA_VISIBLE_DEVICES": "-1"}, {}),
    ],
)
def test_gpus_of_the_driver_count_unless_they_are_hidden(tmp_path, variables, found):
    assert find_gpus(variables, tmp_path) == {}
    for name in ("0000:0b:00.0", "0000:0c:00.0"):
        (tmp_path / "proc/driver/nvidia/gpus" / name).mkdir(parents=True)
    assert find_gpus(variables, tmp_path) == found
