"""The lines that make the stages of a pipeline, and which of them make some again."""

from __future__ import annotations

import gc

import pytest

from tb_slowdown_plugin.collectors.hooks.method_hooks import MethodHooks
from tb_slowdown_plugin.collectors.input.stage_lines import StageLines

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

HERE = "tests/unit/collectors/input/test_stage_lines.py"


@pytest.fixture
def lines(monkeypatch, root):
    """With the number of finished steps in `steps`, which a test may set."""
    monkeypatch.chdir(root)
    made = StageLines(lambda: made.steps)
    made.steps = 0
    hooks = MethodHooks("example", pytest.fail)
    made.follow(hooks)
    yield made
    hooks.remove()


def pipeline():
    data = tf.data.Dataset.range(1_000)
    data = data.shuffle(100).map(lambda x: x + 1)
    return data.batch(2)


def at(offset):
    return f"{HERE}:{pipeline.__code__.co_firstlineno + offset}"


def test_each_line_is_told_with_the_stages_that_it_makes_from_the_source_on(lines):
    assert [(fact.subject, fact.numbers) for fact in lines.tell(pipeline())] == [
        (at(1), {"Range": 0.0}),
        (at(2), {"Shuffle": 1.0, "Map": 2.0}),
        (at(3), {"Batch": 3.0}),
    ]


def test_a_pipeline_that_is_made_again_after_a_step_is_told_so_once(lines):
    lines.tell(pipeline())
    assert lines.tell(pipeline()) == []
    lines.steps = 1
    again = {fact.subject: fact.numbers.get("made_anew") for fact in lines.tell(pipeline())}
    assert again == {at(1): 1.0, at(2): 1.0, at(3): 1.0}
    assert lines.tell(pipeline()) == []


def test_what_was_made_before_is_not_known_and_what_is_gone_is_forgotten(lines):
    hooks = MethodHooks("example", pytest.fail)
    before, after = StageLines(lambda: 0), pipeline()
    before.follow(hooks)
    assert before.tell(after) == []
    hooks.remove()
    assert lines._made
    del after
    gc.collect()
    assert not lines._made


def of_their_own_sizes():
    data = tf.data.Dataset.range(100)
    data = data.map(lambda x: tf.range(x))
    data = data.padded_batch(4)
    return data.map(lambda x: x + 1)


def sized_in_batches():
    data = tf.data.Dataset.range(100).batch(4)
    data = data.map(lambda x: x + 1)
    return data.map(lambda x: tf.zeros((tf.size(x), tf.size(x))))


@pytest.mark.parametrize(
    ("build", "offset"), [(of_their_own_sizes, 2), (sized_in_batches, 3), (pipeline, None)]
)
def test_the_line_from_which_on_sizes_vary_is_told(lines, build, offset):
    varying = [fact.subject for fact in lines.tell(build()) if fact.numbers.get("varying")]
    first = build.__code__.co_firstlineno
    assert varying == ([] if offset is None else [f"{HERE}:{first + offset}"])
