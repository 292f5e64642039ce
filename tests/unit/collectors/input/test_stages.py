"""The slow stage and the batch shapes of real tf.data pipelines."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

from tb_slowdown_plugin.catalog.collectors import SIGNALS
from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.input.batch_shapes import (
    EVERY,
    BatchShapes,
    Glance,
    has_static_shapes,
)
from tb_slowdown_plugin.collectors.input.stages import InputStages
from tb_slowdown_plugin.records.types import Fact

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

has_model = pytest.mark.skipif(
    not hasattr(tf.data.experimental, "get_model_proto"), reason="needs TensorFlow 2.19"
)


SLOW_SECONDS = 0.01
"""On a busy machine the other stages take milliseconds, too."""


def slow(x):
    time.sleep(SLOW_SECONDS)
    return x


def pipeline():
    data = tf.data.Dataset.range(1_000)
    data = data.map(lambda x: tf.ensure_shape(tf.numpy_function(slow, [x], tf.int64), []))
    return data.filter(lambda x: x >= 0).batch(2)


def node(name, elements, seconds):
    return SimpleNamespace(
        name=name,
        inputs=(),
        num_elements=elements,
        processing_time=int(seconds * 1e9),
        buffered_elements=0,
    )


@pytest.fixture
def stages(recording):
    collector = InputStages()
    collector.start(recording.context)
    yield collector
    collector.stop()


def told(recording):
    return [fact for fact in recording.of(Fact) if fact.name == "input_stage"]


@has_model
def test_the_stages_are_told_where_they_are_others_and_not_those_of_other_data(recording, stages):
    data = tf.data.Dataset.range(10)
    for source in (data, data, data.map(lambda x: x), data):
        iter(source)
    for around in ("validation", "predict:train.py:3"):
        recording.stopwatch.open(around)
        iter(data.batch(2))
        recording.stopwatch.close()
    facts = [fact for fact in recording.of(Fact) if fact.name == "input_pipeline"]
    assert [fact.subject for fact in facts] == ["Range", "Range Map", "Range"]


@has_model
def test_of_what_a_strategy_hands_to_its_devices_the_programs_stages_are_told(recording, stages):
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    data = tf.data.Dataset.range(64).shuffle(50).batch(4)
    spread = strategy.experimental_distribute_dataset(data)
    for _ in range(2):
        assert len(list(spread)) == 16
    facts = [fact for fact in recording.of(Fact) if fact.name == "input_pipeline"]
    assert [fact.subject.split()[:3] for fact in facts] == [["Range", "Shuffle", "Batch"]]
    assert (facts[0].numbers["over_devices"], facts[0].numbers["shuffle_buffer"]) == (1.0, 50.0)
    assert stages.read() == {}
    assert told(recording) == [], "the model is that of a device"
    iter(data)
    assert len([fact for fact in recording.of(Fact) if fact.name == "input_pipeline"]) == 2


@has_model
def test_functions_of_a_pipeline_are_told_with_their_lines(recording, stages, monkeypatch, root):
    monkeypatch.chdir(root)
    stages.stop()
    stages.start(recording.context)
    iter(pipeline())
    facts = [fact for fact in recording.of(Fact) if fact.name == "input_function"]
    line = pipeline.__code__.co_firstlineno
    here = "tests/unit/collectors/input/test_stages.py"
    assert [(fact.subject, fact.numbers) for fact in facts] == [
        (f"<lambda> ({here}:{line + 3})", {}),
        (f"<lambda> ({here}:{line + 2})", {"python": 1.0}),
    ]


@has_model
def test_the_slow_stage_is_named_with_its_seconds(recording, stages):
    iterator = iter(pipeline())
    for _ in range(20):
        next(iterator)
    assert stages.read() == {}
    (fact,) = told(recording)
    assert fact.name == "input_stage"
    assert fact.subject.startswith("Map#")
    assert SLOW_SECONDS <= fact.numbers["seconds_per_element"] < 0.03
    assert fact.numbers["share"] > 0.7
    assert fact.numbers["elements"] >= 40


@has_model
def test_what_was_told_is_not_told_again_and_asked_every_ten_seconds_later(recording, monkeypatch):
    now = 0
    second = 1_000_000_000
    recording.clock = type(recording.clock)(monotonic_ns=lambda: now)
    recording.__post_init__()
    asked = []
    nodes = {1: node("Map", 100, 1.0)}

    def read_model(iterator):
        asked.append(now)
        return SimpleNamespace(nodes=nodes)

    monkeypatch.setattr(tf.data.experimental, "get_model_proto", read_model)
    collector = InputStages()
    collector.start(recording.context)
    iterator = iter(tf.data.Dataset.range(1))
    for now in range(0, 36 * second, second):  # noqa: B007 - the clock reads it
        collector.read()
    nodes[1] = node("Map", 200, 4.0)
    now = 45 * second
    collector.read()
    collector.stop()
    del iterator
    assert [moment // second for moment in asked] == [0, 1, 3, 7, 15, 25, 35, 45]
    seconds = [fact.numbers["seconds_per_element"] for fact in told(recording)]
    assert seconds == pytest.approx([0.01, 0.02])


@has_model
def test_without_autotuning_there_is_no_model_and_no_claim(recording, stages):
    options = tf.data.Options()
    options.autotune.enabled = False
    iterator = iter(pipeline().with_options(options))
    next(iterator)
    assert stages.read() == {}
    assert told(recording) == []


@has_model
def test_a_pipeline_that_is_gone_is_not_kept_alive(recording, stages):
    iterator = iter(pipeline())
    next(iterator)
    del iterator
    stages.read()
    assert told(recording) == []


def iterate(stages, data, passes, batches):
    """Passes over a dataset, each left early or not, each seen by the background once."""
    for _ in range(passes):
        for number, _ in enumerate(data, 1):
            if number == 2:
                stages.read()
            if number == batches:
                break


def caches_told(recording):
    facts = [fact for fact in recording.of(Fact) if fact.name == "cache_unfilled"]
    return [fact.numbers for fact in facts]


@has_model
def test_a_cache_that_never_completes_is_told_once(recording, stages):
    stored = tf.data.Dataset.range(20).map(lambda x: x + 1).cache()
    iterate(stages, stored.take(5), passes=6, batches=None)
    assert caches_told(recording) == [{"passes": 3}]


@has_model
def test_a_cache_of_which_each_pass_takes_a_part_anew_is_told(recording, stages):
    stored = tf.data.Dataset.range(20).map(lambda x: x + 1).cache()
    validation = tf.data.Dataset.range(5)
    for _ in range(4):
        recording.steps += 5
        iterate(stages, stored.take(5), passes=1, batches=None)
        iterate(stages, validation, passes=1, batches=None)
    assert caches_told(recording) == [{"passes": 3}]


@has_model
def test_looks_at_a_few_examples_before_training_are_no_passes(recording, stages):
    stored = tf.data.Dataset.range(20).map(lambda x: x + 1).cache()
    for _ in range(4):
        iterate(stages, stored.take(2), passes=1, batches=None)
    iterate(stages, stored, passes=3, batches=None)
    assert caches_told(recording) == []


@has_model
@pytest.mark.parametrize("make", ["complete", "peeked", "none", "other", "validation"])
def test_a_cache_that_holds_and_one_that_may_yet_is_not_told(recording, stages, make):
    mapped = tf.data.Dataset.range(20).map(lambda x: x + 1)
    match make:
        case "complete":
            iterate(stages, mapped.cache(), passes=4, batches=None)
        case "peeked":
            data = mapped.cache()
            next(iter(data))
            iterate(stages, data, passes=3, batches=None)
        case "none":
            iterate(stages, mapped, passes=4, batches=None)
        case "other":
            for _ in range(4):
                iterate(stages, mapped.cache().take(5), passes=1, batches=None)
        case "validation":
            recording.stopwatch.open("validation")
            iterate(stages, mapped.cache(), passes=4, batches=5)
            recording.stopwatch.close()
    assert caches_told(recording) == []


def test_a_tensorflow_without_the_model_is_named(recording, monkeypatch):
    monkeypatch.delattr(tf.data.experimental, "get_model_proto", raising=False)
    with pytest.raises(Unavailable, match=r"2\.19"):
        InputStages().start(recording.context)


def test_each_new_batch_shape_is_an_event_and_the_number_of_them_a_signal(recording):
    collector = BatchShapes()
    collector.start(recording.context)
    assert collector.read() == {}
    data = tf.data.Dataset.range(10).batch(4).map(lambda x: {"x": x, "y": (x, x)})
    for _ in range(2):
        for _ in data:
            pass
    collector.stop()
    shapes = [(fact.subject, fact.numbers) for fact in recording.of(Fact)]
    assert shapes == [
        ("(4,), (4,), (4,)", {"distinct": 1}),
        ("(2,), (2,), (2,)", {"distinct": 2}),
    ]
    assert collector.read() == {"batch_shapes": 2}
    assert set(collector.read()) <= set(SIGNALS)


def test_batches_of_other_makes_have_shapes_too_and_odd_ones_cost_one_remark(recording):
    class Odd:
        shape = "unknown"

        def __iter__(self):
            raise RuntimeError("not now")

    collector = BatchShapes()
    collector.start(recording.context)
    (observe,) = recording.context.batch_observers
    for length in (5, 7, 5):
        observe((np.zeros((4, length)), {"y": [np.zeros(4), tf.zeros((4, 1))]}))
    observe(Odd())
    Odd.shape = Odd()
    observe(Odd())
    recording.stopwatch.open("validation")
    observe(np.zeros((9, 9)))
    recording.stopwatch.close()
    assert collector.read() == {"batch_shapes": 2}
    assert [fact.subject for fact in recording.of(Fact)] == [
        "(4, 5), (4,), (4, 1)", "(4, 7), (4,), (4, 1)",
    ]  # fmt: skip
    assert recording.failures == [
        ("batch_shapes", f"the shape of a batch can't be read: {kind}")
        for kind in ("ValueError", "RuntimeError")
    ]
    collector.stop()
    assert recording.context.batch_observers == []


@pytest.mark.parametrize("make", [tuple, list, lambda pair: dict(zip("xy", pair, strict=True))])
def test_a_batch_whose_first_tensor_stays_as_it_is_is_new_once_in_sixteen(make):
    glance = Glance()
    batches = [make((tf.zeros((4, 5)), tf.zeros((4, n)))) for n in range(2 * EVERY)]
    other = make((tf.zeros((3, 5)), tf.zeros((3, 1))))
    new = [glance.is_new(batch) for batch in (*batches, other, other)]
    assert [nth for nth, is_new in enumerate(new) if is_new] == [0, EVERY, 2 * EVERY]


def test_batches_of_a_loop_are_looked_at_when_they_look_new(recording):
    def make():
        for number in range(2 * EVERY):
            yield np.zeros((4, 5)), np.zeros((4, number))
        yield np.zeros((3, 5)), np.zeros((3, 1))

    spec = tf.TensorSpec((None, None))
    collector = BatchShapes()
    collector.start(recording.context)
    for _ in tf.data.Dataset.from_generator(make, output_signature=(spec, spec)):
        pass
    collector.stop()
    assert [fact.subject for fact in recording.of(Fact)] == [
        "(4, 5), (4, 0)", "(4, 5), (4, 16)", "(3, 5), (3, 1)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "static"),
    [
        (lambda data: data.batch(2, drop_remainder=True), True),
        (lambda data: data.batch(2), False),
        (
            lambda data: data.batch(2, drop_remainder=True).map(lambda x: {"a": x, "b": (x, x)}),
            True,
        ),
        (lambda data: data.map(lambda x: (x, tf.RaggedTensor.from_row_lengths([x], [1]))), False),
        (lambda data: data.map(lambda x: (x, tf.sparse.from_dense([x]))), False),
        (lambda data: data.batch(2).take(1), False),
        (list, False),
    ],
)
def test_a_dataset_is_known_to_have_one_shape(make, static):
    assert has_static_shapes(make(tf.data.Dataset.range(6))) is static


def test_fetching_in_a_function_is_left_alone_and_stop_restores(recording):
    from tensorflow.python.data.ops.iterator_ops import OwnedIterator

    before = OwnedIterator.__next__
    collector = BatchShapes()
    collector.start(recording.context)
    value = tf.function(lambda iterator: next(iterator))(iter(tf.data.Dataset.range(3)))
    collector.stop()
    assert int(value) == 0
    assert collector.read() == {}
    assert OwnedIterator.__next__ is before
