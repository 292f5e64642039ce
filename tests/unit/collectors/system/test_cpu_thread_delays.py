"""The kernel's count of what each thread waited for a core, kept open and read seldom."""

import os
import sys
import threading
from pathlib import Path

import pytest

from tb_slowdown_plugin.collectors.system import (
    cpu as thread_delays,
)
from tb_slowdown_plugin.collectors.system.cpu import (
    ThreadDelays,
)

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="schedstat is Linux's")


@pytest.fixture
def tasks(tmp_path):
    """Has the kernel say that a thread ran and waited so long."""

    def tell(thread, delay_ns, ran_ns=1_000):
        (tmp_path / str(thread)).mkdir(exist_ok=True)
        (tmp_path / str(thread) / "schedstat").write_text(f"{ran_ns} {delay_ns} 7\n")

    tell.path = tmp_path
    return tell


def open_files(folder):
    """How many files below `folder` this process holds open; what others open doesn't count."""
    files = [Path(os.path.realpath(each)) for each in Path("/proc/self/fd").iterdir()]
    return sum(each.is_relative_to(folder) for each in files)


def test_threads_are_added_up(tasks):
    tasks(1, 5)
    tasks(2, 70)
    delays = ThreadDelays(tasks.path)
    assert delays.read_all(0) == 75
    tasks(2, 100)
    tasks(3, 1_000)
    assert delays.read_all(1) == 1_105
    delays.close()


def test_one_that_sleeps_is_left_alone_for_a_while_and_then_told(tasks):
    tasks(1, 5)
    tasks(2, 70)
    delays = ThreadDelays(tasks.path)
    delays.read_all(0)
    tasks(1, 6)
    assert delays.read_all(1) == 76  # the second one sleeps
    tasks(1, 8)
    tasks(2, 90)
    assert delays.read_all(900_000_000) == 78
    assert delays.read_all(900_000_001) == 98
    delays.close()


@pytest.mark.parametrize("most", [0, 1])
def test_more_threads_than_files_may_be_open_are_read_too(tasks, monkeypatch, most):
    monkeypatch.setattr(thread_delays, "_MOST_OPEN", most)
    for thread in (1, 2, 3):
        tasks(thread, 10**thread)
    delays = ThreadDelays(tasks.path)
    assert open_files(tasks.path) == 1 + most
    assert delays.read_all(0) == 1_110
    for thread in (1, 2, 3):
        tasks(thread, 2 * 10**thread)
    assert delays.read_all(1) == 2_220
    delays.close()
    assert open_files(tasks.path) == 0


def test_threads_that_end_keep_their_share_and_no_file():
    own = Path("/proc/self").resolve() / "task"
    delays = ThreadDelays(Path("/proc/self/task"))
    go_on = threading.Event()
    threads = [threading.Thread(target=go_on.wait) for _ in range(5)]
    for thread in threads:
        thread.start()
    waited = [delays.read_all(0)]
    # TensorFlow may start a thread at any time: only the files of ours are known.
    theirs = [own / str(thread.native_id) for thread in threads]
    assert [open_files(thread) for thread in theirs] == [1] * 5
    mine = [delays.read_one(thread.ident) for thread in threads]
    assert all(delay is not None and delay <= waited[0] for delay in mine)
    gone = threads[0].ident
    go_on.set()
    for thread in threads:
        thread.join()
    while any(thread.exists() for thread in theirs):  # the kernel's ends after Python's
        os.sched_yield()
    waited += [delays.read_all(now_ns) for now_ns in (10**9, 2 * 10**9, 3 * 10**9)]
    assert waited == sorted(waited)
    assert [open_files(thread) for thread in theirs] == [0] * 5
    assert delays.read_one(gone) is None
    delays.close()
    assert open_files(own) == 0


def test_without_the_count_nothing_stays_open(tmp_path):
    (tmp_path / "1").mkdir()
    with pytest.raises(FileNotFoundError, match="no schedstat"):
        ThreadDelays(tmp_path)
    assert open_files(tmp_path) == 0
