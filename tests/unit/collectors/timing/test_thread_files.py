"""What Linux says of one thread, while there is one."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import pytest

from tb_slowdown_plugin.collectors.timing.thread_files import (
    cpu_time_of,
    native_id_of,
    read_thread_file,
    scheduled,
)

FORKED = """
import os, threading
from tb_slowdown_plugin.collectors.timing.thread_files import native_id_of
if not os.fork():
    ident = threading.get_ident()
    print(native_id_of(ident) == threading.get_native_id() == os.getpid(), flush=True)
    os._exit(0)
os.wait()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_the_training_thread_of_a_forked_process_is_known() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr


def test_threads_have_cpu_time_until_they_end() -> None:
    go_on = threading.Event()
    thread = threading.Thread(target=go_on.wait)
    thread.start()
    ident = thread.ident
    assert ident is not None
    assert native_id_of(ident) == thread.native_id
    if sys.platform.startswith("linux"):
        assert cpu_time_of(ident) is not None
        before = cpu_time_of(threading.get_ident())
        end = time.thread_time() + 0.02
        while time.thread_time() < end:
            pass
        assert cpu_time_of(threading.get_ident()) - before > 10**7
    go_on.set()
    thread.join()
    assert native_id_of(ident) is None
    assert cpu_time_of(ident) is None
    assert scheduled(ident) is None


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="files of Linux")
def test_nothing_stays_open() -> None:
    before = os.listdir("/proc/self/fd")  # noqa: PTH208
    assert read_thread_file(threading.get_ident(), "comm")
    with pytest.raises(OSError, match="no_such_file"):
        read_thread_file(threading.get_ident(), "no_such_file")
    assert os.listdir("/proc/self/fd") == before  # noqa: PTH208
