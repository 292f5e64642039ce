"""Threads in the background wait for the end, and all of them hear of it."""

from __future__ import annotations

import threading

from tb_slowdown_plugin.collectors.timing.end_signal import EndSignal


def test_an_end_that_does_not_come_is_waited_for_as_long_as_asked():
    assert not EndSignal().wait(0.001)


def test_all_who_wait_hear_of_the_end():
    end, heard = EndSignal(), []
    threads = [threading.Thread(target=lambda: heard.append(end.wait(30.0))) for _ in range(3)]
    for thread in threads:
        thread.start()
    end.come()
    for thread in threads:
        thread.join()
    assert heard == [True] * 3
    assert end.wait(0.0)
