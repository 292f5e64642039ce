"""Whether samples of a stack have the share of a Python function that takes milliseconds at a time.

    python benchmarks/stack_shares.py [--seconds 20]

A loop calls Keras's `predict`, and sorts a list with a key in Python. Another thread looks where it
is: at moments that count from when that thread was due, as the monitor does, and from when it got
Python's lock.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import threading
import time
from pathlib import Path
from typing import Final

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import keras
import numpy as np

from tb_slowdown_plugin.collectors.python.any_moment import AnyMoment

_REST_SECONDS: Final = 0.05
_ITEMS: Final = 60_000


def main() -> None:
    """Prints a row for each way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    seconds = parser.parse_args().seconds
    print("| moments count from | share of the sort | of the samples |\n|---|---|---|")
    for way, knows_due in (("when the thread was due", True), ("when it had the lock", False)):
        share, seen, samples = measure(seconds, knows_due=knows_due)
        print(f"| {way} | {share:.1%} | {seen / samples:.1%} of {samples} |", flush=True)


def measure(seconds: float, *, knows_due: bool) -> tuple[float, int, int]:
    """The share of the wall time in the sort; samples in it, and all."""
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4)])
    rows, items = np.ones((4, 8), np.float32), [random.random() for _ in range(_ITEMS)]
    model.predict(rows, verbose=0)
    thread, over, seen, samples = threading.get_ident(), threading.Event(), 0, 0

    def look() -> None:
        nonlocal seen, samples
        moment = AnyMoment()
        while not over.is_set():
            due = time.perf_counter() + _REST_SECONDS
            time.sleep(_REST_SECONDS)
            moment.wait(*((time.perf_counter() - due,) if knows_due else (-1.0,)))
            frame = sys._current_frames()[thread]
            names = set()
            while frame is not None:
                names.add(frame.f_code.co_name)
                frame = frame.f_back
            seen, samples = seen + ("sort" in names), samples + 1

    looking = threading.Thread(target=look)
    looking.start()
    sorting, began = 0.0, time.perf_counter()
    while time.perf_counter() < began + seconds:
        model.predict(rows, verbose=0)
        before = time.perf_counter()
        sort(items)
        sorting += time.perf_counter() - before
    whole = time.perf_counter() - began
    over.set()
    looking.join()
    return sorting / whole, seen, samples


def sort(items: list[float]) -> list[float]:
    """With a key, so that Python runs and keeps its lock."""
    return sorted(items, key=lambda item: -abs(item) * 0.998)


if __name__ == "__main__":
    main()
