"""Stages of a pipeline in sentences, and fixes whose new lines are Python."""

import ast

import pytest

from tb_slowdown_plugin.analysis.causes.common import pipeline_stages
from tb_slowdown_plugin.analysis.causes.common.fixes import as_example
from tb_slowdown_plugin.analysis.causes.common.pipeline_stages import (
    called,
    parallel_map,
    smaller_buffer,
)

FIXES = ("parallel_map", "parallel_batch", "prefetch", "cache", "interleave", "batch_first",
         "shuffle_early")  # fmt: skip


@pytest.mark.parametrize("name", FIXES)
def test_the_lines_to_add_are_python(name):
    fix = getattr(pipeline_stages, name)()
    lines = [text for _, text in as_example(fix.code)]
    ast.parse("\n".join(lines))
    assert fix.text.endswith(".")


def test_the_slow_stage_is_named_where_it_is_known():
    assert parallel_map("Map").text.startswith("Run the slow stage `Map` in parallel")
    assert parallel_map().text.startswith("Run the slow stage in parallel")
    assert called("") == ""
    assert "Map" in called("Map")


def test_the_size_of_the_buffer_is_told():
    fix = smaller_buffer(50_000)
    assert fix.text.endswith("It holds 50,000 elements.")
    assert fix.code == "- ds = ds.shuffle(50_000)\n+ ds = ds.shuffle(5_000)"
    assert "It holds" not in smaller_buffer().text
