"""Accounts with a cause of their own, and what is told of them."""

from __future__ import annotations

import numpy as np
import pytest
from unit.analysis.drifting_steps import SIZE
from unit.analysis.steady_steps import STEP, at

from tb_slowdown_plugin.records.types import Fact, Trace


@pytest.mark.parametrize(
    ("account", "cause", "summary"),
    [
        ("communication", "communication", "Each step waits for other workers throughout the run."),
        (
            "xla_compilation",
            "xla_compilation",
            "XLA recompiles for new shapes. Recompilations don't show up as retraces.",
        ),
        ("profiling", "profiling", "The profiler slowed down the run."),
        (
            "optimizer_creation",
            "optimizer_state",
            (
                "The program re-creates the optimizer during training, and each new one allocates "
                "its slot variables again."
            ),
        ),
    ],
)
def test_accounts_with_a_cause_of_their_own(make_run, find, judge, account, cause, summary):
    spent = np.full(SIZE, 0.010)
    run = make_run(0.010 + spent, accounts={account: spent})
    (found,) = judge(run, find(account, "flat", spent)).report.causes

    assert (found.cause, found.summary) == (cause, summary)
    assert found.evidence[0].startswith("6.00 s (50.0% of the run) went into ")
    assert found.evidence[0].endswith(": 10 ms per step on average in steps 0\u2013599.")


def test_a_compiled_function_beside_slow_steps_that_compute_is_a_suspect(make_run, find, judge):
    slow = np.where(np.arange(SIZE) % 9 == 0, 0.100, 0.0)
    trace = Trace(1, "step", "a.py:3", 0.1, 0.1, "first", jit_compile=True)
    finding = find("core", "periodic", slow, confidence="medium")

    computing = make_run(0.010 + slow, events=[(0, trace)], process_cpu=0.010 + slow)
    report = judge(computing, finding).report
    assert report.causes == ()
    (suspect,) = report.suspects
    assert (suspect.cause, suspect.seconds) == ("xla_compilation", pytest.approx(6.7))
    assert suspect.why == (
        "`step` is compiled by XLA (`jit_compile=True`), and the 67 slow steps compute: 7.37 s of "
        "CPU time in 7.37 s. XLA compiles each new input shape, which no retrace shows."
    )
    waiting = make_run(0.010 + slow, events=[(0, trace)], process_cpu=np.full(SIZE, 0.010))
    assert judge(waiting, finding).report.suspects == ()


@pytest.mark.parametrize(
    ("account", "fact", "sentence"),
    [
        (
            "xla_compilation",
            Fact("xla_compilation", "step (a.py:3)", {"seconds": 0.5, "shapes_seen": 7.0}),
            "XLA recompiled `step` (a.py:3) 3 times (1.5 s) for 7 input shapes.",
        ),
        (
            "optimizer_creation",
            Fact("optimizer_created", "Adam", {"seconds": 0.01}),
            "`Adam` was re-created or rebuilt in 3 steps of the run.",
        ),
        (
            "checkpoint:Saver",
            Fact("checkpoint", "Saver", {"seconds": 0.01, "bytes": 2.0**24}),
            "A save writes 16 MiB; 48 MiB was written in total.",
        ),
    ],
)
def test_what_happened_is_counted(make_run, find, judge, account, fact, sentence):
    spent = np.full(SIZE, 0.010)
    events = [(row, fact) for row in (10, 20, 30)]
    run = make_run(0.010 + spent, accounts={account: spent}, events=events)
    (cause,) = judge(run, find(account, "flat", spent)).report.causes

    assert sentence in cause.evidence


def test_values_that_xla_compiles_for_are_told_with_who_needs_them(make_run, find, judge):
    spent = np.where(np.arange(SIZE) % 20 == 0, 0.100, 0.0)
    compilation = Fact(
        "xla_compilation", "step (a.py:3)", {"seconds": 0.1, "shapes_seen": 1, "values_seen": 30}
    )
    events = [(row, compilation) for row in range(0, SIZE, 20)]
    events.append((40, Fact("xla_needs", "step (a.py:3): begin, for Slice (a.py:7)")))
    events.append((40, Fact("xla_needs", "step (a.py:3): the variable n, for Range (b.py:9)")))
    events.append((40, Fact("xla_needs", "other (a.py:3): end, for StridedSlice (a.py:8)")))
    run = make_run(0.010 + spent, accounts={"xla_compilation": spent}, events=events)
    report = judge(run, find("xla_compilation", "periodic", spent)).report

    (cause,) = report.causes
    assert (
        cause.summary == "XLA recompiles for new values. Recompilations don't show up as retraces."
    )
    assert cause.evidence[1:] == (
        "XLA recompiled `step` (a.py:3) 30 times (3 s) for 30 values.",
        "XLA compiles for each value of `begin`: `Slice` (a.py:7) needs it as a constant.",
        "XLA compiles for each value of the variable `n`: `Range` (b.py:9) needs it as a constant.",
    )
    assert report.headline.endswith(" XLA recompilation of step (a.py:3).")
    assert [advice.text.partition(",")[0] for advice in cause.advice] == [
        "Cut a window with `tf.gather`",
        "Round a size up before the compiled function gets it",
        "Leave the part with changing shapes or values out of XLA.",
    ]


def test_a_save_after_the_last_step_is_in_the_bytes(make_run, find, judge):
    spent = at(range(0, SIZE, 20), 0.1)
    rows = [*range(0, SIZE, 20), SIZE]
    events = [(row, Fact("checkpoint", "Saver", {"bytes": 2.0**20})) for row in rows]
    run = make_run(STEP + spent, accounts={"checkpoint:Saver": spent}, events=events)
    (cause,) = judge(run, find("checkpoint:Saver", "periodic", spent)).report.causes
    assert cause.evidence[0].startswith("30 saves by `Saver` took")
    assert cause.evidence[1] == (
        "A save writes 1 MiB; 31 MiB was written in total, 1 save after the last step included."
    )


@pytest.mark.parametrize("function", ["step (a.py:3)", "Keras train step (a.py:3)"])
def test_the_headline_names_the_one_function_that_is_compiled(make_run, find, judge, function):
    spent = at(range(0, SIZE, 20), 0.1)
    fact = Fact("xla_compilation", function, {"seconds": 0.1, "shapes_seen": 7.0})
    run = make_run(STEP + spent, accounts={"xla_compilation": spent}, events=[(20, fact)])
    report = judge(run, find("xla_compilation", "periodic", spent)).report
    named = f"the {function}" if function.startswith("Keras") else function
    assert report.headline.endswith(f" XLA recompilation of {named}.")
