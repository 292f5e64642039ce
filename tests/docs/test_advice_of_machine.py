"""Cores and devices: the advice, tried."""

from __future__ import annotations

import subprocess
import sys

import pytest
from advice_snippet import (
    MARKS,
    CaseOfAdvice,
    Snippet,
    check_all,
    check_case,
)

from tb_slowdown_plugin.analysis.causes.machine import (
    cpu_contention_fixes,
    thermal,
)
from tb_slowdown_plugin.analysis.causes.machine.cpu_contention_fixes import (
    Contention,
    Cores,
)

tf = pytest.importorskip("tensorflow")
pytestmark = MARKS


def limits_threads(snippet: Snippet):
    # Allowed before TensorFlow's first operation only, so it runs in a process of its own.
    lines = [line[2:] for line in snippet.code.splitlines()]
    program = "\n".join(
        [
            "import tensorflow as tf",
            *lines,
            "tf.constant(1.0)",
            "print(tf.config.threading.get_intra_op_parallelism_threads())",
            "print(tf.config.threading.get_inter_op_parallelism_threads())",
        ]
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["4", "2"]


def limits_threads_of_the_pipeline(snippet: Snippet):
    ds = snippet.run("new", {"ds": tf.data.Dataset.range(3)})["ds"]
    assert ds.options().threading.private_threadpool_size == 2
    assert [int(x) for x in ds] == [0, 1, 2]


def computes_in_a_process(snippet: Snippet):
    done = []

    class Worker:
        pid = 41

        def __init__(self, target, daemon):
            assert target == "prepare"
            assert daemon

        def start(self):
            done.append("started")

    class Stand:
        Thread = Process = Worker
        sched_setaffinity = staticmethod(lambda pid, cores: done.append((pid, cores)))

    names = {"threading": Stand, "multiprocessing": Stand, "os": Stand, "prepare": "prepare"}
    for side in ("old", "new"):
        snippet.run(side, names)
    assert done == ["started", "started", (41, {0})]


CASES: dict[str, CaseOfAdvice] = {
    "threads": (
        cpu_contention_fixes.advise(Contention(Cores(8))),
        "Leave cores",
        limits_threads,
    ),
    "threads under a quota": (
        cpu_contention_fixes.advise(Contention(Cores(16, quota=4.2), "quota")),
        "Make no more threads than the quota",
        limits_threads,
    ),
    "more threads than cores": (
        cpu_contention_fixes.advise(Contention(Cores(4, threads=16))),
        "Make no more threads than there are cores",
        limits_threads,
    ),
    "unknown cores": (
        cpu_contention_fixes.advise(Contention(Cores())),
        "Make fewer threads",
        None,
    ),
    "own threads": (
        cpu_contention_fixes.advise(Contention(Cores(2), "own threads")),
        "Look for threads",
        computes_in_a_process,
    ),
    "pipeline threads": (
        cpu_contention_fixes.advise(Contention(Cores(16, quota=4.2), "quota")),
        "Give the input pipeline",
        limits_threads_of_the_pipeline,
    ),
    "hot": (thermal.advise(thermal.Clocks(hot=True)), "Cool", None),
    "power": (thermal.advise(thermal.Clocks(hot=False)), "Check the power", None),
    "watch": (thermal.advise(thermal.Clocks(hot=True)), "Watch clock", None),
    "watch AMD": (thermal.advise(thermal.Clocks(hot=True, amd=True)), "Watch power", None),
}


@pytest.mark.parametrize("case", CASES)
def test_the_snippet_does_what_its_text_says(case, request):
    check_case(CASES[case], request)


def test_every_code_has_a_case_and_a_price():
    check_all(CASES)
