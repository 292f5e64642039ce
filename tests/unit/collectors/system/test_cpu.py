"""CPU contention, pressure, memory, disk: real parsers on recorded files and this kernel."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tb_slowdown_plugin.catalog.collectors import SIGNALS
from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.saving.disk import (
    DiskIo,
)
from tb_slowdown_plugin.collectors.system import kernel_files as cgroup
from tb_slowdown_plugin.collectors.system.cpu import CpuContention
from tb_slowdown_plugin.collectors.system.memory import (
    HostMemory,
)
from tb_slowdown_plugin.collectors.system.pressure import Pressure

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is Linux's")

VERSION_1 = {
    "proc/self/mountinfo": """\
24 23 0:6 / /dev rw,relatime shared:2 - devtmpfs devtmpfs rw,size=16G
33 24 0:28 / /sys/fs/cgroup/memory ro,nosuid - cgroup cgroup rw,memory
34 24 0:29 / /sys/fs/cgroup/cpu,cpuacct ro,nosuid - cgroup cgroup rw,cpu,cpuacct
""",
    "proc/self/cgroup": "9:memory:/docker/0f3c\n4:cpu,cpuacct:/docker/0f3c\n",
    "sys/fs/cgroup/cpu,cpuacct/cpu.stat": "nr_periods 40\nnr_throttled 9\n"
    "throttled_time 1500000000\n",
    "sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824\n",
    "sys/fs/cgroup/memory/memory.usage_in_bytes": "536870912\n",
}
"""A Docker container on a host with cgroups version 1: the group's name is the host's."""

VERSION_2 = {
    "proc/self/mountinfo": "31 24 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n",
    "proc/self/cgroup": "0::/user.slice/train.service\n",
    "sys/fs/cgroup/user.slice/train.service/cpu.stat": "usage_usec 812\nuser_usec 700\n"
    "nr_throttled 2\nthrottled_usec 250000\n",
    "sys/fs/cgroup/user.slice/train.service/memory.max": "max\n",
    "sys/fs/cgroup/user.slice/train.service/memory.current": "4096\n",
    "sys/fs/cgroup/user.slice/memory.max": "2147483648\n",
}

MEMINFO = """\
MemTotal:       16384000 kB
MemFree:          204800 kB
MemAvailable:    8192000 kB
SwapTotal:       2048000 kB
SwapFree:        1024000 kB
HugePages_Total:       0
"""


def machine(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def task(thread: int, delay_ns: int) -> dict[str, str]:
    return {f"proc/self/task/{thread}/schedstat": f"1000000 {delay_ns} 7\n"}


def read(collector, recording):
    collector.start(recording.context)
    values = dict(collector.read())
    collector.stop()
    return values


def without_cores(values):
    return {name: value for name, value in values.items() if name != "allowed_cores"}


def test_the_nearest_visible_group_is_the_process_own(tmp_path):
    one, two = machine(tmp_path / "1", VERSION_1), machine(tmp_path / "2", VERSION_2)
    find = cgroup.find_file
    assert find("cpu", "cpu.stat", "cpu.stat", one) == one / "sys/fs/cgroup/cpu,cpuacct/cpu.stat"
    group = two / "sys/fs/cgroup/user.slice/train.service"
    assert find("memory", "memory.max", "memory.limit_in_bytes", two) == group / "memory.max"
    assert find("cpu", "no.such", "no.such", two) is None
    assert find("cpu", "cpu.stat", "cpu.stat", tmp_path) is None


@linux
@pytest.mark.parametrize(("files", "seconds"), [(VERSION_1, 1.5), (VERSION_2, 0.25)], ids="12")
def test_throttling_is_read_from_either_version(tmp_path, recording, files, seconds):
    root = machine(tmp_path, files | task(1, 0))
    assert read(CpuContention(root), recording)["throttled_seconds"] == seconds


ONE = "sys/fs/cgroup/cpu,cpuacct/cpu.cfs"
TWO = "sys/fs/cgroup/user.slice/train.service/cpu.max"


@linux
@pytest.mark.parametrize(
    ("files", "cores"),
    [
        (VERSION_1 | {f"{ONE}_quota_us": "250000\n", f"{ONE}_period_us": "100000\n"}, 2.5),
        (VERSION_1 | {f"{ONE}_quota_us": "-1\n", f"{ONE}_period_us": "100000\n"}, None),
        (VERSION_1 | {f"{ONE}_quota_us": "250000\n"}, None),
        (VERSION_2 | {TWO: "50000 100000\n"}, 0.5),
        (VERSION_2 | {TWO: "max 100000\n"}, None),
        (VERSION_2 | {TWO: ""}, None),
        ({}, None),
    ],
)
def test_the_quota_is_told_in_cores(tmp_path, files, cores):
    assert cgroup.quota_cores(machine(tmp_path, files)) == cores


@linux
def test_run_delay_is_the_sum_over_threads_also_of_those_that_have_ended(tmp_path, recording):
    recording.clock = type(recording.clock)(thread_cpu_ns=lambda: 0)
    recording.__post_init__()
    own = threading.get_native_id()
    root = machine(tmp_path, task(own, 2_000_000_000) | task(own + 1, 500_000_000))
    collector = CpuContention(root)
    collector.start(recording.context)
    assert without_cores(collector.read()) == {
        "run_delay_seconds": 2.5,
        "thread_run_delay_seconds": 2.0,
    }
    machine(root, task(own, 3_000_000_000) | task(own + 2, 250_000_000))
    (root / f"proc/self/task/{own + 1}/schedstat").unlink()
    assert without_cores(collector.read()) == {
        "run_delay_seconds": 3.75,
        "thread_run_delay_seconds": 3.0,
    }


@linux
def test_other_threads_rest_for_200_times_the_cpu_time_that_reading_them_took(tmp_path, recording):
    now, used = 0, 0

    def tick():
        nonlocal used
        used += 1_000_000
        return used

    recording.clock = type(recording.clock)(monotonic_ns=lambda: now, thread_cpu_ns=tick)
    recording.__post_init__()
    own = threading.get_native_id()
    root = machine(tmp_path, task(own, 2_000_000_000) | task(own + 1, 500_000_000))
    collector = CpuContention(root)
    collector.start(recording.context)
    everything = {"run_delay_seconds": 2.5, "thread_run_delay_seconds": 2.0}
    assert without_cores(collector.read()) == everything
    now = 199_999_999
    assert without_cores(collector.read()) == {"thread_run_delay_seconds": 2.0}
    now = 200_000_000
    assert without_cores(collector.read()) == everything


@linux
def test_threads_that_fight_for_one_core_show_as_run_delay(recording):
    """As soon as the kernel has counted 50 ms; it would take ten seconds of luck to see none."""
    core = min(os.sched_getaffinity(0))
    collector = CpuContention()
    collector.start(recording.context)
    before = collector.read()
    done = threading.Event()

    def compete():
        os.sched_setaffinity(0, {core})  # this thread only
        while not done.is_set():
            sum(range(20_000))

    hog = subprocess.Popen(
        [sys.executable, "-c", f"import os; os.sched_setaffinity(0, {{{core}}})\nwhile True: pass"]
    )
    thread = threading.Thread(target=compete)
    thread.start()
    delay = 0.0
    try:
        for _ in range(1_000):
            collector._rest_until_ns = 0
            delay = collector.read()["run_delay_seconds"] - before["run_delay_seconds"]
            if delay > 0.05 or done.wait(0.01):
                break
    finally:
        done.set()
        thread.join()
        hog.kill()
        hog.wait()
    collector.stop()
    assert delay > 0.05
    assert before["allowed_cores"] == len(os.sched_getaffinity(0))


def test_a_kernel_without_schedstat_is_named(tmp_path, recording):
    with pytest.raises(Unavailable, match=r"no schedstat|this is"):
        CpuContention(tmp_path).start(recording.context)


def test_pressure_is_told_for_the_resources_that_the_kernel_watches(tmp_path, recording):
    text = "some avg10=1.53 avg60=0.87 avg300=0.73 total=85190000\nfull avg10=0 total=5\n"
    root = machine(tmp_path, {"proc/pressure/io": text, "proc/pressure/cpu": text})
    assert read(Pressure(root), recording) == {
        "cpu_pressure_seconds": 85.19,
        "io_pressure_seconds": 85.19,
    }


def test_a_kernel_without_pressure_is_named(tmp_path, recording):
    with pytest.raises(Unavailable, match="report pressure"):
        Pressure(tmp_path).start(recording.context)


def test_host_memory_counts_the_container_only_under_a_limit(tmp_path, recording):
    limited = machine(tmp_path / "1", VERSION_1 | {"proc/meminfo": MEMINFO})
    free = machine(tmp_path / "2", VERSION_2 | {"proc/meminfo": MEMINFO})
    machine_wide = {
        "memory_available_bytes": 8_192_000 * 1024,
        "swap_used_bytes": 1_024_000 * 1024,
    }
    assert read(HostMemory(free), recording) == machine_wide
    assert read(HostMemory(limited), recording) == machine_wide | {
        "container_memory_limit_bytes": 1 << 30,
        "container_memory_bytes": 1 << 29,
    }


def test_without_meminfo_host_memory_says_so(tmp_path, recording):
    with pytest.raises(Unavailable, match="meminfo"):
        HostMemory(tmp_path).start(recording.context)


def test_disk_bytes_are_those_that_reach_a_disk(tmp_path, recording):
    io = "rchar: 900\nwchar: 800\nsyscr: 7\nsyscw: 6\nread_bytes: 4096\nwrite_bytes: 8192\n"
    root = machine(tmp_path, {"proc/self/io": io})
    assert read(DiskIo(root), recording) == {"disk_read_bytes": 4096, "disk_written_bytes": 8192}


def test_without_the_file_disk_io_says_so(tmp_path, recording):
    with pytest.raises(Unavailable, match="/proc/self/io can't be read"):
        DiskIo(tmp_path).start(recording.context)


@linux
@pytest.mark.parametrize("family", [CpuContention, Pressure, HostMemory, DiskIo])
def test_this_kernel_is_understood_and_every_signal_has_a_name_and_a_unit(recording, family):
    collector = family()
    try:
        values = read(collector, recording)
    except Unavailable as why:
        pytest.skip(str(why))
    assert values
    assert all(value >= 0 for value in values.values())
    assert set(values) <= set(SIGNALS)
