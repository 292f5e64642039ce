"""Training that times what its code calls with its own stopwatch: `PROGRAM NAME LOGDIR`.

Each program prints what its calls took, and where they stand, as JSON:

    {"seconds": {"predict": 4.2}, "line": {"predict": 61}}
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "programs"))

import numpy as np
import ordinary

import tbslow

FEW = np.ones((4, ordinary.FEATURES), np.float32)
SECONDS = defaultdict(float)
LINES: dict[str, int] = {}
STEPS = 240
EPOCH = 40


@contextlib.contextmanager
def timed(call):
    """Times what the next line of the program calls."""
    LINES[call] = sys._getframe(2).f_lineno + 1
    began = time.perf_counter()
    yield
    SECONDS[call] += time.perf_counter() - began


def compiled(width=64):
    net = ordinary.model(width)
    net.compile("sgd", "mse")
    return net


def loop(logdir, extra, before=lambda: None, data=None):
    net = ordinary.model()
    train = ordinary.train_step(net, ordinary.sgd(net))
    with tbslow.start(logdir):
        for number, (x, y) in enumerate(data or ordinary.dataset(STEPS)):
            with tbslow.summary.step():
                train(x, y)
                if number == 0:
                    before()  # what runs for the first time is warm-up
                else:
                    extra(number)


def run_named(programs):
    """Runs the function that the command line names, one of a module's globals."""
    _, name, logdir = sys.argv
    Path(logdir).mkdir(parents=True, exist_ok=True)
    programs[name](logdir)
    sys.stdout.write(json.dumps({"seconds": SECONDS, "line": LINES}))
