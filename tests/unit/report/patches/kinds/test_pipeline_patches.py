"""Stages of a pipeline: added, in parallel, or swapped, where the record and the source agree."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.report.patches.defects import Program

from tb_slowdown_plugin.analysis.causes.common import pipeline_stages
from tb_slowdown_plugin.analysis.causes.data import epoch_stages
from tb_slowdown_plugin.analysis.report_types.causes import Advice, Place
from tb_slowdown_plugin.records.types import Fact

BEGIN = "import tensorflow as tf\n\ndef load(x):\n    {body}\n\n"
SLICES = "tf.data.Dataset.from_tensor_slices(x)"
KEPT = {"mapped_bytes": 4096.0}


def program(
    folder: Path,
    chain: str,
    advice: Advice,
    told: str = "TensorSlice Map Batch",
    *,
    body: str = "return x * 2",
    use: str = "for x in data:\n    train(x)\n",
    at: str = "in data",
    **numbers: float,
) -> Program:
    made = Program(folder, f"{BEGIN.format(body=body)}{chain}\n{use}", "input_pipeline")
    line = made.line(at)
    made.place, made.advice = Place("train.py", line, ""), (advice,)
    return made.saw(
        Fact("input_pipeline", told, {**KEPT, **numbers}), Fact("input_at", f"train.py:{line}")
    )


CHAIN = f"data = {SLICES}.map(load).batch(8)"


@pytest.mark.parametrize(
    ("chain", "patched"),
    [
        (CHAIN, f"{CHAIN}.prefetch(tf.data.AUTOTUNE)"),
        (
            f"data = (\n    {SLICES}\n    .map(load)  # ä\n    .batch(8)  # eight\n)",
            "    .batch(8)\n    .prefetch(tf.data.AUTOTUNE)  # eight\n)",
        ),
        (
            f"data = {SLICES}\ndata = data.map(load)\ndata = data.batch(\n    8\n)",
            "data = data.batch(\n    8\n).prefetch(tf.data.AUTOTUNE)",
        ),
        (
            f"def make():\n\tfound = {SLICES}.map(load)\n\treturn found.batch(8)\ndata = make()",
            "\treturn found.batch(8).prefetch(tf.data.AUTOTUNE)",
        ),
        (
            f"{CHAIN}.with_options(options)",
            "map(load).batch(8).prefetch(tf.data.AUTOTUNE).with_options(options)",
        ),
    ],
)
def test_prefetch_goes_to_the_end_as_the_pipeline_is_written(
    tmp_path: Path, chain: str, patched: str
) -> None:
    made = program(tmp_path, chain, pipeline_stages.prefetch())
    assert patched in made.patched()
    assert made.fix().patches[0].changes_results == "no"


@pytest.mark.parametrize(
    "use",
    [
        "for n, x in enumerate(data):\n    train(x)\n",
        "model.fit(data, epochs=3)\n",
        "model.fit(\n    x=data,\n    epochs=3)\n",
        "def train():\n    for x in tbslow.data(data):\n        step(x)\n",
    ],
)
def test_the_data_may_be_read_in_several_ways(tmp_path: Path, use: str) -> None:
    at = next(line for line in use.splitlines() if "data" in line).strip()
    made = program(tmp_path, CHAIN, pipeline_stages.prefetch(), use=use, at=at)
    assert made.changed() == [f"-{CHAIN}", f"{CHAIN}.prefetch(tf.data.AUTOTUNE)"]


@pytest.mark.parametrize(
    ("chain", "told", "use", "numbers"),
    [
        (CHAIN, "TensorSlice Map Shuffle Batch", None, {}),
        (CHAIN, "TensorSlice ParallelMap Batch", None, {}),
        (CHAIN, "Range Map Batch", None, {}),
        (CHAIN, "TensorSlice Map Batch Prefetch", None, {}),
        (CHAIN, "TensorSlice Map Batch", None, {"python": 1.0}),
        (CHAIN, "TensorSlice Map Batch", None, {"generator": 1.0}),
        (f"if a:\n    {CHAIN}\nelse:\n    data = b", "TensorSlice Map Batch", None, {}),
        ("from mine import data", "TensorSlice Map Batch", None, {}),
        ("data = Loader().data", "TensorSlice Map Batch", None, {}),
        (f"{CHAIN}\ndef f():\n    global data", "TensorSlice Map Batch", None, {}),
        (CHAIN, "TensorSlice Map Batch", "x = [a for a in data]\n", {}),
        (CHAIN, "TensorSlice Map Batch", "def f(data):\n    for x in data:\n        g(x)\n", {}),
    ],
)
def test_a_pipeline_that_is_not_certain_stays(
    tmp_path: Path, chain: str, told: str, use: str | None, numbers: dict[str, float]
) -> None:
    words = {"use": use} if use else {}
    made = program(tmp_path, chain, pipeline_stages.prefetch(), told, **words, **numbers)
    assert made.refusals()


@pytest.mark.parametrize(
    ("call", "body", "patched", "changes"),
    [
        ("map(load)", "return x", "map(load, num_parallel_calls=tf.data.AUTOTUNE)", "no"),
        ("map(load,)", "return x", "map(load, num_parallel_calls=tf.data.AUTOTUNE)", "no"),
        (
            "map(lambda x: load(x))",
            "return tf.image.random_flip_up_down(x)",
            "map(lambda x: load(x), num_parallel_calls=tf.data.AUTOTUNE)",
            "yes",
        ),
        ("map(other)", "return x", None, ""),
        ("map(self.load)", "return w.assign(x)", None, ""),
        ("map(load)", "return tf.py_function(f, [x], tf.int32)", None, ""),
        ("map(load, deterministic=True)", "return x", None, ""),
        ("map(*load)", "return x", None, ""),
    ],
)
def test_a_map_runs_in_parallel(
    tmp_path: Path, call: str, body: str, patched: str | None, changes: str
) -> None:
    chain = f"data = {SLICES}.{call}.batch(8)"
    made = program(tmp_path, chain, pipeline_stages.parallel_map(), body=body)
    if patched is None:
        assert made.refusals()
    else:
        assert made.changed()[-1] == chain.replace(call, patched)
        assert made.fix().patches[0].changes_results == changes


def test_batches_are_made_in_parallel(tmp_path: Path) -> None:
    made = program(tmp_path, CHAIN, pipeline_stages.parallel_batch())
    new = CHAIN.replace("batch(8)", "batch(8, num_parallel_calls=tf.data.AUTOTUNE)")
    assert made.changed()[-1] == new


@pytest.mark.parametrize(
    ("chain", "told", "patched"),
    [
        (CHAIN, "TensorSlice Map Batch", f"{CHAIN}.cache()"),
        (
            f"data = {SLICES}.map(load).shuffle(9).batch(8)",
            "TensorSlice Map Shuffle Batch",
            f"data = {SLICES}.map(load).cache().shuffle(9).batch(8)",
        ),
    ],
)
def test_a_cache_goes_behind_what_is_the_same_in_each_epoch(
    tmp_path: Path, chain: str, told: str, patched: str
) -> None:
    made = program(tmp_path, chain, pipeline_stages.cache(), told)
    assert made.changed()[-1] == patched
    assert made.fix().patches[0].note == "It takes 4 KiB of memory."


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"chain": "shuffle(9).map(load)", "told": "TensorSlice Shuffle Map"}, "may differ"),
        ({"chain": "repeat(9).map(load)", "told": "TensorSlice Repeat Map"}, "may differ"),
        ({"chain": "map(load).take(9)", "told": "TensorSlice Map Take"}, "never complete"),
        ({"chain": "map(load).cache()", "told": "TensorSlice Map Cache"}, "already has a `cache`"),
        ({"body": "return x + tf.random.normal([2])"}, "draws random numbers"),
        ({"mapped_bytes": 2.0**31}, "more than 1 GB"),
        ({"mapped_bytes": 0.0}, "isn't known"),
        ({"use": "for x in data:\n    if x: break\n"}, "never complete"),
        ({"use": "model.fit(data, steps_per_epoch=4)\n", "at": "model.fit"}, "never complete"),
    ],
)
def test_no_cache_where_it_might_not_hold(
    tmp_path: Path, change: dict[str, object], why: str
) -> None:
    words = {"told": "TensorSlice Map", **change}
    chain = f"data = {SLICES}.{words.pop('chain', 'map(load)')}"
    made = program(tmp_path, chain, pipeline_stages.cache(), **words)  # type: ignore[arg-type]
    assert why in made.refusals()


@pytest.mark.parametrize(
    ("function", "body", "is_certain"),
    [
        ("load", "return x * 2", True),
        ("load", '"""Scales."""\n    return tf.cast(x, tf.float32) / 255.0', True),
        ("lambda x, y: (tf.cast(x, dtype=tf.float32) / 255.0, y)", "pass", True),
        ("lambda x: tf.tanh(tf.clip_by_value(x, 0.0, 1.0)) ** 2", "pass", True),
        ("lambda x, y: x * y", "pass", False),
        ("lambda x: x - tf.reduce_mean(x)", "pass", False),
        ("lambda x: x[0]", "pass", False),
        ("lambda x: x * scale", "pass", False),
        ("lambda x: tf.reshape(x, [4])", "pass", False),
        ("lambda x: tf.image.resize(x, [4, 4])", "pass", False),
        ("lambda *x: x", "pass", False),
        ("other", "pass", False),
        ("load", "x = x[0]\n    return x * 2", False),
    ],
)
def test_batches_come_first_where_the_function_is_arithmetic(
    tmp_path: Path, function: str, body: str, is_certain: bool
) -> None:
    chain = f"data = {SLICES}.map({function}).batch(8)"
    made = program(tmp_path, chain, pipeline_stages.batch_first(), body=body)
    if is_certain:
        assert made.changed()[-1] == f"data = {SLICES}.batch(8).map({function})"
    else:
        assert made.refusals()


def test_take_comes_before_cache(tmp_path: Path) -> None:
    chain = f"data = {SLICES}.map(load).cache().take(9).batch(3)"
    told = "TensorSlice Map Cache Take Batch"
    made = program(tmp_path, chain, epoch_stages.complete_the_cache(), told)
    assert made.changed()[-1] == chain.replace(".cache().take(9)", ".take(9).cache()")


def test_take_behind_a_shuffled_cache_stays(tmp_path: Path) -> None:
    chain = f"data = {SLICES}.shuffle(9).cache().take(9).batch(3)"
    told = "TensorSlice Shuffle Cache Take Batch"
    assert program(tmp_path, chain, epoch_stages.complete_the_cache(), told).refusals()


def test_stages_are_added_at_one_place_in_their_order(tmp_path: Path) -> None:
    made = program(tmp_path, CHAIN, pipeline_stages.prefetch())
    made.advice = (pipeline_stages.cache(), pipeline_stages.prefetch())
    assert made.changed()[-1] == f"{CHAIN}.cache().prefetch(tf.data.AUTOTUNE)"
