"""What the run runs on: versions, devices, limits and workers. Nothing private."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from tb_slowdown_plugin._version import __version__
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.collectors.system import kernel_files
from tb_slowdown_plugin.records.types import CollectorState, Environment

_NVIDIA_GPUS: Final = "proc/driver/nvidia/gpus"
_PACKAGES: Final = ("tensorflow", "keras", "tf_keras", "jax", "torch", "numpy")


def describe(collectors: Iterable[CollectorState], worker: tuple[int, int]) -> Environment:
    """The environment of this process.

    Args:
      collectors: Which collectors run.
      worker: (index, count) of this process among the workers of the run.
    """
    return Environment(
        versions=_versions(),
        devices=_devices(),
        limits={**_limits(), **find_host(os.environ), **find_gpus(os.environ)},
        collectors=tuple(collectors),
        worker_index=worker[0],
        worker_count=worker[1],
    )


def find_worker(variables: Mapping[str, str]) -> tuple[int, int]:
    """(index, count) of this process by `TF_CONFIG`; the chief is worker 0.

    A process that takes no part in the training steps (an evaluator, a
    parameter server) counts behind all workers. What can't be read is (0, 1).

    Example:
      >>> find_worker({"TF_CONFIG": '{"cluster": {"worker": ["a:1", "b:1"]},'
      ...              ' "task": {"type": "worker", "index": 1}}'})
      (1, 2)
    """
    try:
        config = json.loads(variables.get("TF_CONFIG") or "{}")
        cluster, task = config.get("cluster", {}), config.get("task", {})
        chiefs = len(cluster.get("chief", ())) or len(cluster.get("master", ()))
        count = chiefs + len(cluster.get("worker", ()))
        index, role = int(task.get("index", 0)), task.get("type", "worker")
    except (ValueError, TypeError, AttributeError):
        return 0, 1
    if count < 1 or index < 0:
        return 0, 1
    if role in ("chief", "master"):
        return index, count
    if role == "worker":
        return chiefs + index, count
    return count + index, count


def find_host(variables: Mapping[str, str]) -> dict[str, float]:
    """Which host of `TF_CONFIG` this worker is on, and which class of hosts that is, by number.

    Names of hosts are private, so both are counted in the order of `TF_CONFIG`, the same in each
    worker. Hosts are of one class if their names differ in digits only.

    Example:
      >>> find_host({"TF_CONFIG": '{"cluster": {"worker": ["a100-1:1", "a100-2:1", "v100-1:1"]},'
      ...            ' "task": {"type": "worker", "index": 2}}'})
      {'host': 3.0, 'host_class': 2.0}
    """
    index, count = find_worker(variables)
    if index >= count or count < 2:
        return {}
    cluster = json.loads(variables["TF_CONFIG"])["cluster"]
    chiefs = cluster.get("chief") or cluster.get("master") or ()
    hosts = [str(each).rpartition(":")[0] for each in (*chiefs, *cluster.get("worker", ()))]
    classes = [re.sub(r"\d+", "0", host) for host in hosts]
    return {
        "host": list(dict.fromkeys(hosts)).index(hosts[index]) + 1.0,
        "host_class": list(dict.fromkeys(classes)).index(classes[index]) + 1.0,
    }


def find_gpus(variables: Mapping[str, str], root: Path = kernel_files.ROOT) -> dict[str, float]:
    """How many GPUs NVIDIA's driver has, where nobody has hidden them from TensorFlow.

    A container that has no access to them sees the driver all the same.

    Args:
      variables: Of the environment.
      root: As for `find_file`.
    """
    if variables.get("CUDA_VISIBLE_DEVICES", "0").strip() in ("", "-1"):
        return {}
    with contextlib.suppress(OSError):
        found = len(list((root / _NVIDIA_GPUS).iterdir()))
        return {names.MACHINE_GPUS: float(found)} if found else {}
    return {}


def _versions() -> dict[str, str]:
    versions = {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "tb_slowdown_plugin": __version__,
    }
    for package in _PACKAGES:
        # Not the distribution's: tensorflow-cpu and vendor builds are called otherwise.
        version = getattr(sys.modules.get(package), "__version__", None)
        if version:
            versions[package] = str(version)
    return versions


def _devices() -> tuple[tuple[str, str], ...]:
    import tensorflow as tf

    found = []
    for device in tf.config.list_physical_devices():
        kind = device.device_type
        if kind == "GPU":
            details = tf.config.experimental.get_device_details(device)
            kind = details.get("device_name", kind)
        found.append((device.name.removeprefix("/physical_device:"), kind))
    return tuple(found)


def _limits() -> dict[str, float]:
    limits = {"cpu_count": float(_cpu_count()), **find_threads()}
    quota = kernel_files.quota_cores()
    if quota is not None:
        limits["cpu_quota_cores"] = quota
    memory = find_memory_limit_bytes()
    if memory is not None:
        limits["memory_limit_bytes"] = memory
    return limits


def find_threads() -> dict[str, float]:
    """Sizes of TensorFlow's thread pools where the program, or its environment, has set them."""
    from tensorflow import config

    chosen = {
        "intra_op_threads": config.threading.get_intra_op_parallelism_threads()
        or _whole_number(os.environ.get("TF_NUM_INTRAOP_THREADS", "")),
        "inter_op_threads": config.threading.get_inter_op_parallelism_threads()
        or _whole_number(os.environ.get("TF_NUM_INTEROP_THREADS", "")),
    }
    return {name: float(size) for name, size in chosen.items() if size > 0}


def _whole_number(text: str) -> int:
    """0 where it isn't one."""
    return int(text) if text.isascii() and text.isdigit() else 0


def _cpu_count() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def find_memory_limit_bytes(root: Path = kernel_files.ROOT) -> float | None:
    """The memory of the machine, or what the process's control group may use of it.

    Args:
      root: As for `find_file`.
    """
    found = []
    limit = kernel_files.find_memory_limit(root)
    with contextlib.suppress(ValueError, OSError):  # "max": no limit
        found += [] if limit is None else [float(limit.read_text())]
    with contextlib.suppress(ValueError, OSError):
        found.append(float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")))
    return min(found, default=None)
