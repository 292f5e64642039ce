"""Short programs whose steps wait for their own thread, and their healthy twins: `NAME LOGDIR`."""

from __future__ import annotations

import contextlib
import queue
import threading
import time

from timed_training import loop, run_named, timed


def queue_in_loop(logdir, seconds=0.06):
    """Another thread of the program makes what each step takes from a queue."""
    jobs, over = queue.Queue(1), threading.Event()

    def work():
        while not over.is_set():
            time.sleep(seconds)
            with contextlib.suppress(queue.Full):
                jobs.put(0, timeout=0.1)

    threading.Thread(target=work, daemon=True).start()

    def extra(_):
        with timed("wait"):
            jobs.get()

    loop(logdir, extra)
    over.set()


def queue_in_loop_healthy(logdir):
    queue_in_loop(logdir, seconds=0.0005)


def lock_in_loop(logdir, seconds=0.25):
    """Another thread holds a lock for long, which a step wants every now and then."""
    lock, asked, over = threading.Lock(), threading.Event(), threading.Event()

    def work():
        while not over.is_set():
            if asked.wait(0.1):
                asked.clear()
                with lock:
                    time.sleep(seconds)

    threading.Thread(target=work, daemon=True).start()

    def extra(number):
        if number % 20 == 0:
            asked.set()
            time.sleep(0.002)
            with timed("wait"):
                lock.acquire()
            lock.release()

    loop(logdir, extra)
    over.set()


def lock_in_loop_healthy(logdir):
    lock_in_loop(logdir, seconds=0.0001)


if __name__ == "__main__":
    run_named(globals())
