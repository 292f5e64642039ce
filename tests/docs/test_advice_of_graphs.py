"""Graphs and Python work that grow with the run: the advice, tried."""

from __future__ import annotations

import random

import numpy as np
import pytest
from advice_snippet import MARKS, CaseOfAdvice, Snippet, check_all, check_case

from tb_slowdown_plugin.analysis.causes.compile import (
    graph_growth,
    new_fetches,
)
from tb_slowdown_plugin.analysis.causes.machine import python_overhead_fixes as python_overhead
from tb_slowdown_plugin.analysis.causes.machine.python_overhead_fixes import PythonGrowth

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


def fetches_one_set(snippet: Snippet):
    v1 = tf.compat.v1
    sets = []
    for side in ("old", "new"):
        with tf.Graph().as_default(), v1.Session() as sess:
            metrics = {name: tf.constant(1.0, name=name) for name in "abcdefgh"}
            asked: set = set()

            class Asked:
                def run(self, fetches, sess=sess, asked=asked):
                    named = fetches.values() if isinstance(fetches, dict) else fetches
                    asked.add(frozenset(each.name for each in named))
                    return sess.run(fetches)

            for _ in range(20):
                done = snippet.run(side, {"sess": Asked(), "metrics": metrics, "random": random})
                assert set(np.asarray([*done["values"]]).tolist()) <= {1.0, *"abcdefgh"}
            sets.append(len(asked))
    assert sets[0] > 5
    assert sets[1] == 1


def finalizes_the_graph(snippet: Snippet):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        names = v1_names(v1)
        snippet.run("new")
        assert sess.run(names["loss"], {names["x"]: [1.0, 2.0]}).tolist() == [3.0, 6.0]
        with pytest.raises(RuntimeError, match="finalized"):
            tf.constant(1.0)


def moves_into_a_function(snippet: Snippet):
    train_step = snippet.run("new")["train_step"]
    for _ in range(3):
        assert float(train_step(tf.constant([1.0, 3.0]))) == 5.0
    assert train_step.experimental_get_tracing_count() == 1


def keeps_a_running_sum(snippet: Snippet):
    names = {"dataset": [1.0, 2.0, 6.0], "train_step": float, "losses": []}
    assert [snippet.run(side, names)["mean"] for side in ("old", "new")] == [3.0, 3.0]


def bounds_the_buffer(snippet: Snippet):
    replay = snippet.run("new")["replay"]
    replay.extend(range(20_000))
    assert len(replay) == 10_000
    assert replay[0] == 10_000


def writes_into_an_array(snippet: Snippet):
    arriving = [np.full((4_000, 64), float(step)) for step in range(3)]
    grown = snippet.run("old", {"replay": np.empty((0, 64)), "arriving": arriving})["replay"]
    ring = snippet.run("new", {"arriving": arriving})["replay"]
    assert (len(grown), len(ring)) == (12_000, 10_000)
    assert np.bincount(ring[:, 0].astype(int)).tolist() == [2_000, 4_000, 4_000]


def closes_figures(snippet: Snippet):
    class Plots:
        opened = 0

        def subplots(self):
            self.opened += 1
            return self, self

        def close(self, figure):
            self.opened -= 1

        def plot(self, values):
            return None

        savefig = plot

    plots = Plots()
    for side, left in (("old", 1), ("new", 1)):
        snippet.run(side, {"plt": plots, "values": [1], "path": "x.png"})
        assert plots.opened == left, "the old one stays, the new one goes"


CASES: dict[str, CaseOfAdvice] = {
    "once": (graph_growth.advise(), "Build every", builds_operations_once),
    "fetches": ((new_fetches.fetch_one_set(),), "Fetch one set", fetches_one_set),
    "finalize": (graph_growth.advise(), "Finalize", finalizes_the_graph),
    "function": (graph_growth.advise(), "Or move", moves_into_a_function),
    "sum": (python_overhead.advise(PythonGrowth()), "Keep a running sum", keeps_a_running_sum),
    "compile": (
        python_overhead.advise(PythonGrowth(eager=True)),
        "Make the step",
        moves_into_a_function,
    ),
    "ring": (python_overhead.advise(PythonGrowth()), "Bound the buffer", bounds_the_buffer),
    "plots": (
        python_overhead.advise(PythonGrowth(libraries=frozenset({"matplotlib"}))),
        "Close each figure",
        closes_figures,
    ),
    "array": (python_overhead.advise(PythonGrowth()), "Make a numpy array", writes_into_an_array),
}


@pytest.mark.parametrize("case", CASES)
def test_the_snippet_does_what_its_text_says(case, request):
    check_case(CASES[case], request)


def test_every_code_has_a_case_and_a_price():
    check_all(CASES)
