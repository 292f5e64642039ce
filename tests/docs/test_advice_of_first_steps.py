"""Graphs that are built, traced and optimised before the first step: the advice, tried."""

from __future__ import annotations

import pytest
from advice_snippet import MARKS, CaseOfAdvice, Count, Snippet, check_all, check_case

from tb_slowdown_plugin.analysis.causes.startup import warm_up_fixes as warm_up

tf = pytest.importorskip("tensorflow")
pytestmark = MARKS


def keeps_loops_in_the_graph(snippet: Snippet, tmp_path):
    sizes = []
    for side in ("old", "new"):
        # AutoGraph reads source, so the program must stand in a file.
        lines = [
            line[2:]
            for line in snippet.code.splitlines()
            if line[0] in (" ", {"old": "-", "new": "+"}[side])
        ]
        path = tmp_path / f"{side}.py"
        path.write_text("def f(x):\n    " + "\n    ".join(lines) + "\n    return x\n")
        names = {"tf": tf, "layer": lambda x: x * 1.5 + 1}
        exec(compile(path.read_text(), str(path), "exec"), names)
        graph = tf.function(names["f"]).get_concrete_function(tf.TensorSpec([2])).graph
        sizes.append(len(graph.get_operations()))
    assert sizes[0] > 200
    assert sizes[1] < 50


def creates_variables_before(snippet: Snippet):
    counts = []
    for side in ("old", "new"):
        calls = Count()
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        optimizer = tf.keras.optimizers.Adam()

        @tf.function
        def train_step(x, calls=calls, model=model, optimizer=optimizer):
            calls.append(1)
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

        snippet.run(
            side,
            {
                "model": model,
                "optimizer": optimizer,
                "input_shape": [None, 2],
            },
        )
        train_step(tf.ones([3, 2]))
        counts.append(len(calls))
    assert counts == [2, 1]


def skips_the_optimiser(snippet: Snippet):
    try:
        snippet.run("new")
        assert tf.config.optimizer.get_experimental_options()["disable_meta_optimizer"] is True
        assert float(tf.function(lambda x: 2 * x + 1)(tf.constant(3.0))) == 7.0
    finally:
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False})


CASES: dict[str, CaseOfAdvice] = {
    "loops": ((warm_up.roll_loops(),), "If a Python loop", keeps_loops_in_the_graph),
    "variables": ((warm_up.create_variables_once(),), "Create variables", creates_variables_before),
    "grappler": ((warm_up.skip_optimisation(),), "Let Grappler", skips_the_optimiser),
}


@pytest.mark.parametrize("case", CASES)
def test_the_snippet_does_what_its_text_says(case, request):
    check_case(CASES[case], request)


def test_every_code_has_a_case_and_a_price():
    check_all(CASES)
