"""The files of this process's control group, of both versions."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.saving.disk import DiskIo
from tb_slowdown_plugin.collectors.system.child_processes import ChildProcesses
from tb_slowdown_plugin.collectors.system.cpu import CpuContention
from tb_slowdown_plugin.collectors.system.kernel_files import (
    KernelFile,
    find_file,
    open_if_there,
    quota_cores,
)
from tb_slowdown_plugin.collectors.system.memory import HostMemory, ProcessMemory
from tb_slowdown_plugin.collectors.system.pressure import Pressure

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is Linux's")

UNIFIED = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
LEGACY = "35 25 0:30 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"


def make(root, mountinfo, cgroup, files):
    proc = root / "proc" / "self"
    proc.mkdir(parents=True)
    (proc / "mountinfo").write_text(mountinfo)
    (proc / "cgroup").write_text(cgroup)
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.mark.parametrize(("text", "cores"), [("250000 100000\n", 2.5), ("max 100000\n", None)])
def test_a_quota_of_version_2(tmp_path, text, cores) -> None:
    make(tmp_path, UNIFIED, "0::/job\n", {"sys/fs/cgroup/job/cpu.max": text})
    assert quota_cores(tmp_path) == cores


def test_a_quota_of_version_1(tmp_path) -> None:
    files = {
        "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us": "150000\n",
        "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us": "100000\n",
    }
    make(tmp_path, LEGACY, "4:cpu,cpuacct:/job\n", files)
    assert quota_cores(tmp_path) == 1.5


def test_the_nearest_group_above_is_taken_where_the_own_is_not_visible(tmp_path) -> None:
    make(tmp_path, UNIFIED, "0::/a/b/c\n", {"sys/fs/cgroup/a/cpu.stat": "x\n"})
    found = find_file("cpu", "cpu.stat", "cpu.stat", tmp_path)
    assert found == tmp_path / "sys/fs/cgroup/a/cpu.stat"
    assert find_file("memory", "memory.max", "memory.limit_in_bytes", tmp_path) is None


def test_a_system_without_groups_has_no_quota(tmp_path) -> None:
    assert quota_cores(tmp_path) is None


def test_a_file_stays_open_and_is_read_again(tmp_path) -> None:
    path = tmp_path / "value"
    path.write_text("1\n")
    file = KernelFile(path)
    path.write_text("22\n")
    assert file.read() == "22\n"
    file.close()
    assert open_if_there(tmp_path / "none") is None
    assert open_if_there(None) is None


def test_a_file_that_the_program_closed_is_opened_again(tmp_path) -> None:
    path, others = tmp_path / "value", tmp_path / "others"
    path.write_text("1\n")
    others.write_text("not ours\n")
    file = KernelFile(path)
    number = file.descriptor()
    with others.open("rb") as opened:
        os.dup2(opened.fileno(), number)
    assert file.read() == "1\n"
    file.close()
    assert os.pread(number, 100, 0) == b"not ours\n"
    os.close(number)


def test_a_file_that_is_closed_and_gone_is_an_error(tmp_path) -> None:
    path = tmp_path / "value"
    path.write_text("1\n")
    file = KernelFile(path)
    os.close(file.descriptor())
    path.unlink()
    with pytest.raises(FileNotFoundError):
        file.read()
    file.close()


def open_descriptors() -> dict[int, str]:
    found = {}
    for each in Path("/proc/self/fd").iterdir():
        if each.is_symlink():
            found[int(each.name)] = os.readlink(each)  # noqa: PTH115 - no path of a file
    return found


@linux
@pytest.mark.parametrize(
    "family", [ChildProcesses, CpuContention, DiskIo, HostMemory, Pressure, ProcessMemory]
)
def test_a_collector_leaves_the_files_alone_that_have_its_numbers(recording, tmp_path, family):
    """A program that becomes a daemon closes all files, and opens its own."""
    before = open_descriptors()
    collector = family()
    try:
        collector.start(recording.context)
    except Unavailable as why:
        pytest.skip(str(why))
    ours = [
        number
        for number, target in open_descriptors().items()
        if target.startswith(("/proc/", "/sys/")) and before.get(number) != target
    ]
    assert ours
    path = tmp_path / "others"
    path.write_text("not ours\n")
    with path.open("rb") as opened:
        for number in ours:
            os.dup2(opened.fileno(), number)
    values = collector.read()
    collector.stop()
    assert all(os.pread(number, 100, 0) == b"not ours\n" for number in ours)
    for number in ours:
        os.close(number)
    assert values or family is ChildProcesses
