"""What the monitor's threads take beside a long training, and how long they hold Python's lock.

    python benchmarks/background.py                  # a fit of 5 ms a step, six minutes
    python benchmarks/background.py --minutes 2

Another thread asks for the lock every 2 ms. Where it had to wait while a thread of the monitor
computed, the shorter of the two times is what that one held at most.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

STRETCH_SECONDS: Final = 30.0
REST_SECONDS: Final = 0.002


def main() -> None:
    """Trains, and prints a row for each half minute."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=6.0)
    given = parser.parse_args()
    import tbslow
    from benchmarks.overhead_programs import PROGRAMS, keras, make_data, make_model, tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    width, batch = PROGRAMS["fit"]
    model, data = make_model(width), make_data(width, batch)
    end = time.monotonic() + 60 * given.minutes

    class Stop(keras.callbacks.Callback):  # type: ignore[misc, name-defined] # Keras is untyped
        def on_epoch_end(self, *_: Any) -> None:
            self.model.stop_training = time.monotonic() > end

    print("| until, s | the monitor's threads, % of a core | longest hold, ms | holds over 5 ms |")
    print("|---|---|---|---|", flush=True)
    threading.Thread(target=watch, daemon=True).start()
    with tempfile.TemporaryDirectory() as logdir:
        callbacks = [Stop(), tbslow.keras.SlowdownCallback(logdir)]
        model.fit(data, epochs=1 << 20, steps_per_epoch=500, verbose=0, callbacks=callbacks)
        tbslow.stop()


def watch() -> None:
    """Prints a row for each half minute, without end."""
    began = time.monotonic()
    used, holds, due = monitor_seconds(), [0.0], STRETCH_SECONDS
    while True:
        before, at = monitor_seconds(), time.monotonic()
        time.sleep(REST_SECONDS)
        after, now = monitor_seconds(), time.monotonic()
        holds.append(min(now - at - REST_SECONDS, after - before))
        if now - began >= due:
            share = (after - used) / STRETCH_SECONDS
            long = sum(hold > 0.005 for hold in holds)
            row = f"| {due:.0f} | {100 * share:.2f} | {1e3 * max(holds):.1f} | {long} |"
            print(row, flush=True)
            used, holds, due = after, [0.0], due + STRETCH_SECONDS


def monitor_seconds() -> float:
    """CPU time of the monitor's threads so far."""
    return sum(
        time.clock_gettime(time.pthread_getcpuclockid(thread.ident))
        for thread in threading.enumerate()
        if thread.name.startswith("tbslow") and thread.ident is not None and thread.is_alive()
    )


if __name__ == "__main__":
    main()
