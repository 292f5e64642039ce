"""Functions, optimizers, and models that a loop makes anew go before it, where nothing objects."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.report.patches.defects import Program

from tb_slowdown_plugin.records.types import Fact, Trace

DECORATED = """\
import tensorflow as tf

for x in data:
    # Fast.
    @tf.function
    def step(x):
        {body}

    use(step(x))
    {rest}
"""
WRAPPED = """\
import tensorflow as tf

def update(x):
    {body}

def train():
    for x in data:
        {before}
        step = {made}
        step(x)
"""


def made_anew(folder: Path, text: str, function: str, line: int) -> Program:
    program = Program(folder, text, "retracing")
    trace = Trace(1, function, f"train.py:{line}", 0.1, 0.1, "new_object")
    return program.saw(trace, Fact("called_at", f"{function} (train.py:{line}) at train.py:9"))


def decorated(folder: Path, body: str = "return w * x", rest: str = "pass") -> Program:
    return made_anew(folder, DECORATED.format(body=body, rest=rest), "step", 5)


def wrapped(
    folder: Path,
    made: str = "tf.function(update)",
    body: str = "return x",
    before: str = "y = x",
) -> Program:
    text = WRAPPED.format(made=made, body=body, before=before)
    return made_anew(folder, text, "update", 3)


def test_a_decorated_function_moves_with_its_comment(tmp_path: Path) -> None:
    assert decorated(tmp_path).patched() == (
        "import tensorflow as tf\n\n# Fast.\n@tf.function\ndef step(x):\n    return w * x\n\n"
        "for x in data:\n    use(step(x))\n    pass\n"
    )


def test_line_ends_tabs_and_letters_stay(tmp_path: Path) -> None:
    text = DECORATED.format(body='"""Größe\n\tin m."""\n        return w * x', rest="pass")
    text = text.replace("    ", "\t").replace("\n", "\r\n")
    patched = made_anew(tmp_path, text, "step", 5).patched()
    assert '\r\n# Fast.\r\n@tf.function\r\ndef step(x):\r\n\t"""Größe\r\nin m.' in patched
    assert patched.count("\n") == patched.count("\r\n") == text.count("\n")


@pytest.mark.parametrize(
    ("body", "rest", "why"),
    [
        ("w = 2\n        return w * x", "w = x", ""),
        ("g = lambda w: w\n        return g(w) * x", "w = x", "loop changes: w"),
        ("return rate * x", "rate = 0.9", "depends on what the loop changes: rate"),
        ("return rate * x", "rates.append(1)", ""),
        ("return rates[0] * x", "rates.append(1)", "depends on what the loop changes: rates"),
        ("return self.rate * x", "self.rate = 2", "depends on what the loop changes: self"),
        ("return agent.rate * x", "other.rate = 2", "reads `rate`, which other code sets"),
        ("return tf.Variable(1.0) * x", "pass", "creates variables"),
        ("return tf.keras.layers.Dense(2)(x)", "pass", "creates variables"),
        ("print('traced'); return x", "pass", "runs only when it is traced"),
        ("return x * time.time()", "pass", "runs only when it is traced"),
        ("return x * np.random.rand()", "pass", "runs only when it is traced"),
        ("losses.append(x); return x", "pass", "changes Python objects (losses)"),
        ("global w; w = x; return x", "pass", "names of an enclosing function"),
        ("return '''a\n b'''", "pass", "has a string over several lines"),
        ("return x", "step = other(step)", "depends on what the loop changes: step"),
    ],
)
def test_a_function_that_might_mean_something_else_stays(
    tmp_path: Path, body: str, rest: str, why: str
) -> None:
    program = decorated(tmp_path, body, rest)
    if why:
        assert why in program.refusals()
    else:
        assert program.patched()


def test_a_default_is_read_where_the_function_is_made(tmp_path: Path) -> None:
    text = DECORATED.format(body="return w * x", rest="w = x").replace("step(x):", "step(x, w=w):")
    program = made_anew(tmp_path, text, "step", 5)
    assert "depends on what the loop changes: w" in program.refusals()


def test_random_numbers_are_told(tmp_path: Path) -> None:
    (patch,) = decorated(tmp_path, "return x * tf.random.uniform([])").fix().patches
    assert (patch.changes_results, patch.note) == ("yes", "It draws other random numbers.")


def test_a_wrapped_function_moves(tmp_path: Path) -> None:
    assert wrapped(tmp_path).patched() == WRAPPED.format(
        body="return x", before="y = x", made="tf.function(update)"
    ).replace(
        "    for x in data:\n", "    step = tf.function(update)\n    for x in data:\n"
    ).replace("        step = tf.function(update)\n", "")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"made": "tf.function(update) if x else None"}, "in exactly one loop"),
        ({"made": "functools.partial(update)"}, "in exactly one loop"),
        ({"before": "update = other(x)"}, "depends on what the loop changes: update"),
        ({"body": "return tf.Variable(x)"}, "creates variables"),
        ({"before": "if x: continue"}, "doesn't run in each round"),
    ],
)
def test_a_wrapped_function_stays_where_it_is_not_certain(
    tmp_path: Path, change: dict[str, str], why: str
) -> None:
    program = wrapped(tmp_path, **change)
    if why:
        assert why in program.refusals()
    else:
        assert program.patched()


def test_a_function_under_a_condition_stays(tmp_path: Path) -> None:
    program = made_anew(tmp_path, "for x in data:\n    if x:\n        f = tf.function(g)\n", "g", 3)
    assert program.refusals()


def test_a_file_that_changed_elsewhere_is_left_alone(tmp_path: Path) -> None:
    program = decorated(tmp_path)
    run = program.run
    program.path.write_text(program.text.replace("use(step(x))", "w = step(x)"))
    program.recorded = run
    assert "train.py has changed since the run" in program.refusals()


OPTIMIZER = """\
import tensorflow as tf

for x in data:
    optimizer = tf.keras.optimizers.{made}
    gradients = tape.gradient(loss, {model}.trainable_variables)
    optimizer.apply_gradients(zip(gradients, {model}.trainable_variables))
    {rest}
"""


def optimizer(
    folder: Path, made: str = "SGD(0.1)", model: str = "model", rest: str = "pass"
) -> Program:
    program = Program(
        folder, OPTIMIZER.format(made=made, model=model, rest=rest), "optimizer_state"
    )
    return program.saw(Fact("optimizer_at", "train.py:4"))


@pytest.mark.parametrize(
    ("made", "changes"),
    [
        ("SGD(0.1)", "no"),
        ("SGD(learning_rate=0.1)", "no"),
        ("SGD(0.1, momentum=0.9)", "yes"),
        ("Adam()", "yes"),
    ],
)
def test_an_optimizer_moves_and_says_whether_it_has_a_state(
    tmp_path: Path, made: str, changes: str
) -> None:
    program = optimizer(tmp_path, made)
    text = OPTIMIZER.format(made=made, model="model", rest="pass")
    line = f"optimizer = tf.keras.optimizers.{made}\n"
    assert program.patched() == text.replace(f"    {line}", "").replace("for", f"{line}for")
    assert program.fix().patches[0].changes_results == changes


@pytest.mark.parametrize(
    "change",
    [
        {"made": "SGD(0.1 * x)"},
        {"rest": "model = build()"},
        {"rest": "optimizer = None"},
        {"made": "SGD(rate)", "rest": "rate *= 0.9"},
    ],
)
def test_an_optimizer_of_other_numbers_or_models_stays(
    tmp_path: Path, change: dict[str, str]
) -> None:
    assert optimizer(tmp_path, **change).refusals()


MODEL = """\
import tensorflow as tf

def export(model):
    model.save("m.keras")

for x in data:
    {made}
    y = model.{call}(x)
    {rest}
"""


def model(folder: Path, made: str, call: str = "predict_on_batch", rest: str = "pass") -> Program:
    program = Program(folder, MODEL.format(made=made, call=call, rest=rest), "retracing")
    trace = Trace(1, "Keras predict step", "train.py:8", 0.1, 0.1, "new_object")
    return program.saw(trace)


LOAD = "model = tf.keras.models.load_model(path)"


def test_a_model_is_loaded_before_the_loop(tmp_path: Path) -> None:
    assert model(tmp_path, LOAD).changed() == [f"-{LOAD}", LOAD]
    assert f"{LOAD}\nfor x in data:\n" in model(tmp_path, LOAD).patched()


@pytest.mark.parametrize(
    ("made", "call", "rest"),
    [
        (LOAD, "fit", "pass"),
        (LOAD, "predict", "other.save(path)"),
        (LOAD, "predict", "export(other)"),
        (LOAD, "predict", "path = path + '1'"),
        (f"if x: {LOAD}", "predict", "pass"),
        ("model = tf.keras.models.load_model(f'{x}.keras')", "predict", "pass"),
    ],
)
def test_a_model_that_may_be_another_one_is_loaded_again(
    tmp_path: Path, made: str, call: str, rest: str
) -> None:
    assert model(tmp_path, made, call, rest).refusals()


@pytest.mark.parametrize(
    ("made", "changes"),
    [
        ('model.compile("sgd", "mse")', "no"),
        ("model.compile(tf.keras.optimizers.SGD(0.1), 'mse')", "no"),
        ("model.compile(optimizer='adam', loss='mse')", "yes"),
    ],
)
def test_a_model_is_compiled_before_the_loop(tmp_path: Path, made: str, changes: str) -> None:
    program = model(tmp_path, made, "fit")
    assert program.changed() == [f"-{made}", made]
    (patch,) = program.fix().patches
    assert patch.changes_results == changes
    assert (patch.note != "") == (changes == "yes")


@pytest.mark.parametrize(
    ("made", "rest"),
    [
        ("model.compile(optimizer, 'mse')", "model.layers[0].trainable = True"),
        ("model.compile(optimizer, loss_of(x))", "pass"),
        ("model.compile(optimizer, 'mse')", "model = build()"),
        ("model.compile(optimizer, 'mse')", "model.compile(other, 'mse')"),
    ],
)
def test_a_model_that_must_be_compiled_is(tmp_path: Path, made: str, rest: str) -> None:
    assert model(tmp_path, made, "fit", rest).refusals()
