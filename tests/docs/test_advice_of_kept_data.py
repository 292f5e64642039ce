"""What is kept in memory, on disk, or for the next pass: the advice, tried."""

from __future__ import annotations

import numpy as np
import pytest
from advice_snippet import (
    MARKS,
    CaseOfAdvice,
    Snippet,
    check_all,
    check_case,
    counting,
)

from tb_slowdown_plugin.analysis.causes.common.programs.pipeline import Pipeline
from tb_slowdown_plugin.analysis.causes.common.programs.program import Program
from tb_slowdown_plugin.analysis.causes.memory import (
    host_memory,
)
from tb_slowdown_plugin.analysis.causes.memory import (
    tensor_retention_fixes as tensor_retention,
)
from tb_slowdown_plugin.analysis.causes.memory.tensor_retention_fixes import Retention
from tb_slowdown_plugin.analysis.causes.startup import warm_up_fixes as warm_up

tf = pytest.importorskip("tensorflow")
pytestmark = MARKS


def caches_on_disk(snippet: Snippet, tmp_path):
    counts = []
    for _ in range(2):
        calls: list = []
        names = {"ds": tf.data.Dataset.range(5).map(counting(calls))}
        code = snippet.code.replace("cache/train", str(tmp_path / "train"))
        assert [int(x) for x in Snippet(code).run("new", names)["ds"]] == [0, 1, 2, 3, 4]
        counts.append(len(calls))
    assert counts == [5, 0]


def bounds_what_the_pipeline_holds(snippet: Snippet):
    ds = snippet.run("new", {"ds": tf.data.Dataset.range(3)})["ds"]
    assert ds.options().autotune.ram_budget == 2**30
    assert [int(x) for x in ds] == [0, 1, 2]


def keeps_a_window(snippet: Snippet):
    sizes = []
    for side in ("old", "new"):
        history = tf.zeros([0, 2])
        for _ in range(3):
            names = {"history": history, "batch": tf.ones([600, 2])}
            history = snippet.run(side, names)["history"]
        sizes.append(len(history))
    assert sizes == [1_800, 1_000]


def keeps_numbers(snippet: Snippet):
    losses: list = []
    snippet.run("new", {"losses": losses, "loss": tf.constant(2.0)})
    assert losses == [2.0]
    assert type(losses[0]) is float


def opens_a_tape_for_each_step(snippet: Snippet):
    done = snippet.run("new", {"w": tf.Variable(2.0), "dataset": [tf.ones([2])] * 3})
    assert float(done["gradient"]) == 4.0


def reads_the_file_once(snippet: Snippet, tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.arange(4))
    old, new = (snippet.run(side, {"path": path})["x"] for side in ("old", "new"))
    assert isinstance(old, np.memmap)
    assert type(new) is np.ndarray
    assert new.tolist() == old.tolist() == [0, 1, 2, 3]


FIRST_PASS = warm_up.SlowStart(waits=True)
FULL = host_memory.RecordedHostMemory(Program(Pipeline(("Cache", "Shuffle", "Prefetch"))))

CASES: dict[str, CaseOfAdvice] = {
    "on disk": (warm_up.advise(FIRST_PASS), "Keep the decoded", caches_on_disk),
    "window": (tensor_retention.advise(Retention()), "Keep a window", keeps_a_window),
    "numbers": (tensor_retention.advise(Retention()), "Store floats", keeps_numbers),
    "tape": (
        tensor_retention.advise(Retention(tape=True)),
        "Open one",
        opens_a_tape_for_each_step,
    ),
    "cache on disk": (host_memory.advise(FULL), "Put the cache on disk", caches_on_disk),
    "read once": (
        host_memory.advise(host_memory.RecordedHostMemory(full=False)),
        "Read a mapped",
        reads_the_file_once,
    ),
    "bounded": (host_memory.advise(FULL), "Bound what", bounds_what_the_pipeline_holds),
}


@pytest.mark.parametrize("case", CASES)
def test_the_snippet_does_what_its_text_says(case, request):
    check_case(CASES[case], request)


def test_every_code_has_a_case_and_a_price():
    of_input = ("Read several files", "Run the slow stage", "Make the shuffle buffer smaller:")
    check_all(CASES, elsewhere=of_input)
