"""Graphs and Python work that grow with the run: the advice, tried."""

from __future__ import annotations

import numpy as np
import pytest
from advice_snippet import MARKS, CaseOfAdvice, Snippet, check_all, check_case

from tb_slowdown_plugin.analysis.advice import graph_growth, python_overhead

tf = pytest.importorskip("tensorflow")
pytestmark = MARKS


def v1_names(v1):
    x = v1.placeholder(tf.float32, [2])
    return {"x": x, "y": tf.constant([1.0, 1.0]), "model": lambda x: 2 * x, "loss": 3 * x}


def builds_operations_once(snippet: Snippet):
    growth = []
    v1 = tf.compat.v1
    for side in ("old", "new"):
        with tf.Graph().as_default() as graph, v1.Session() as sess:
            names = v1_names(v1)
            sizes = []

            class Batches:
                def __iter__(self, graph=graph, sizes=sizes):
                    for _ in range(4):
                        sizes.append(len(graph.get_operations()))
                        yield [1.0, 2.0]
                    sizes.append(len(graph.get_operations()))

            done = snippet.run(side, {**names, "sess": sess, "batches": Batches()})
            assert done["value"] == pytest.approx(5.0)
            growth.append(sizes[-1] - sizes[0])
    assert growth[0] >= 12
    assert growth[1] == 0


def finalizes_the_graph(snippet: Snippet):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        names = v1_names(v1)
        done = snippet.run("new", {**names, "sess": sess, "batches": [[1.0, 2.0]]})
        assert done["value"].tolist() == [3.0, 6.0]
        with pytest.raises(RuntimeError, match="finalized"):
            tf.constant(1.0)


def moves_into_a_function(snippet: Snippet):
    train_step = snippet.run("new")["train_step"]
    for _ in range(3):
        assert float(train_step(tf.constant([1.0, 3.0]))) == 5.0
    assert train_step.experimental_get_tracing_count() == 1


def keeps_a_running_sum(snippet: Snippet):
    total = 0.0
    for step, loss in enumerate([1.0, 2.0, 6.0]):
        done = snippet.run("new", {"total": total, "step": step, "loss": loss})
        total = done["total"]
    assert done["mean"] == 3.0


def bounds_the_buffer(snippet: Snippet):
    replay = snippet.run("new")["replay"]
    replay.extend(range(20_000))
    assert len(replay) == 10_000
    assert replay[0] == 10_000


def writes_into_an_array(snippet: Snippet):
    grown, ring, seen = np.empty((0, 2)), np.zeros((4, 2)), 0
    for step in range(3):
        rows = np.full((2, 2), float(step))
        grown = snippet.run("old", {"np": np, "replay": grown, "rows": rows})["replay"]
        done = snippet.run("new", {"np": np, "replay": ring, "seen": seen, "rows": rows})
        seen = done["seen"]
    assert grown[:, 0].tolist() == [0, 0, 1, 1, 2, 2]
    assert done["replay"] is ring
    assert ring[:, 0].tolist() == [2, 2, 1, 1]


CASES: dict[str, CaseOfAdvice] = {
    "once": (graph_growth.advise(), "Build every", builds_operations_once),
    "finalize": (graph_growth.advise(), "Finalize", finalizes_the_graph),
    "function": (graph_growth.advise(), "Or move", moves_into_a_function),
    "sum": (python_overhead.advise(), "Keep a running sum", keeps_a_running_sum),
    "compile": (python_overhead.advise(eager=True), "Make the step", moves_into_a_function),
    "ring": (python_overhead.advise(), "Bound the buffer", bounds_the_buffer),
    "array": (python_overhead.advise(), "Make a numpy array", writes_into_an_array),
}


@pytest.mark.parametrize("case", CASES)
def test_the_snippet_does_what_its_text_says(case, request):
    check_case(CASES[case], request)


def test_every_code_has_a_case_and_a_price():
    check_all(CASES)
