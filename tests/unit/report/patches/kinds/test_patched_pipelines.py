"""Patched pipelines give the same elements: each is run as it was and as the patch makes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from unit.report.patches.defects import Program

from tb_slowdown_plugin.analysis.causes.common import pipeline_stages
from tb_slowdown_plugin.analysis.causes.data import epoch_stages
from tb_slowdown_plugin.analysis.report_types.causes import Place
from tb_slowdown_plugin.records.types import Fact

pytest.importorskip("tensorflow")
pytestmark = pytest.mark.tensorflow

TEXT = """\
import tensorflow as tf

tf.keras.utils.set_random_seed(7)

def prepare(x):
    return tf.cast(x, tf.float32) / 8.0

data = tf.data.Dataset.range(32){chain}
seen = []
for epoch in range(3):
    for x in data:
        seen.append(x.numpy().tolist())
"""
ADVICE = (
    pipeline_stages.prefetch(),
    pipeline_stages.parallel_map(),
    pipeline_stages.parallel_batch(),
    pipeline_stages.batch_first(),
    pipeline_stages.cache(),
    epoch_stages.complete_the_cache(),
)


def elements(text: str) -> Any:
    names: dict[str, Any] = {}
    exec(compile(text, "train.py", "exec"), names)
    return names["seen"]


@pytest.mark.parametrize(
    ("chain", "told", "added"),
    [
        (".map(prepare).batch(4)", "Range Map Batch", ["batch(4).map(prepare)", "prefetch("]),
        (
            ".map(prepare).shuffle(9, seed=1).batch(4)",
            "Range Map Shuffle Batch",
            ["num_parallel_calls", "cache()", "prefetch("],
        ),
        (
            ".map(prepare).cache().take(20).batch(8).prefetch(1)",
            "Range Map Cache Take Batch Prefetch",
            ["take(20).cache()", "num_parallel_calls"],
        ),
    ],
)
def test_elements_stay_the_same(tmp_path: Path, chain: str, told: str, added: list[str]) -> None:
    made = Program(tmp_path, TEXT.format(chain=chain), "input_pipeline")
    line = made.line("for x in data")
    made.place, made.advice = Place("train.py", line, ""), ADVICE
    made.saw(
        Fact("input_pipeline", told, {"mapped_bytes": 128.0}),
        Fact("input_at", f"train.py:{line}"),
    )
    patched = made.patched()
    assert [each for each in added if each not in patched] == []
    assert {patch.changes_results for patch in made.fix().patches} <= {"no", "numerics"}
    assert elements(patched) == elements(made.text)
