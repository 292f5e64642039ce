"""What tf.data's model says of its stages, of nodes as it gives them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tb_slowdown_plugin.collectors.input.pipeline_model import (
    Filtered,
    find_filtered,
    find_slowest,
    has_unfilled_cache,
)


def node(name, elements, seconds, inputs=(), buffered=0):
    return SimpleNamespace(
        name=name,
        inputs=inputs,
        num_elements=elements,
        processing_time=int(seconds * 1e9),
        buffered_elements=buffered,
    )


def test_the_slowest_is_the_stage_with_the_largest_share():
    nodes = {
        1: node("Root", 50, 0.01),
        2: node("Prefetch", 50, 0.02, buffered=2),
        3: node("Map", 1_600, 3.0),
        4: node("TFRecord", 1_600, 1.0),
        5: node("Range", 3, 90.0),
    }
    slowest = find_slowest(nodes)
    assert slowest.name == "Map#3"
    assert slowest.seconds_per_element == pytest.approx(3.0 / 1_600)
    assert find_slowest({1: node("Map", 9, 1.0)}) is None


# As TensorFlow 2.21 gave them of `map(work).filter(...).map(...).batch(8).prefetch(2)`.
FILTERED = {
    1: node("Root", 60, 0.0005, [2]),
    2: node("Prefetch", 60, 0.0013, [3]),
    3: node("MapAndBatch", 60, 0.0016, [4]),
    4: node("Filter", 480, 0.0079, [5]),
    5: node("ParallelMapV2", 1_588, 3.1926, [6]),
    6: node("Shuffle", 1_590, 0.0014, [7]),
    7: node("Range", 1_689, 0.0008),
}


def test_of_a_filter_it_tells_what_passes_and_what_the_stages_before_it_take():
    found = find_filtered(FILTERED)
    assert found.name == "Filter#4"
    assert found.kept == pytest.approx(480 / 1_588)
    assert found.share == pytest.approx(3.1948 / 3.2061, rel=1e-4)


def test_of_several_filters_the_one_is_told_for_which_most_is_in_vain():
    nodes = {
        1: node("Filter", 90, 0.0, [2]),
        2: node("Map", 100, 3.0, [3]),
        3: node("Filter", 100, 0.0, [4]),
        4: node("Range", 1_000, 1.0),
    }
    assert find_filtered(nodes) == Filtered("Filter#3", 0.1, 0.25)
    nodes[2] = node("Map", 100, 39.0, [3])
    assert find_filtered(nodes).name == "Filter#1"


@pytest.mark.parametrize(
    "nodes",
    [
        {},
        {1: node("Root", 60, 0.1, [2]), 2: node("Map", 60, 0.1)},
        {1: node("Filter", 3, 0.0, [2]), 2: node("Map", 9, 0.1)},
        {1: node("Filter", 0, 0.0, [2]), 2: node("Map", 90, 0.0)},
    ],
    ids=["no model", "no filter", "few elements", "no times"],
)
def test_nothing_is_told_where_nothing_is_known(nodes):
    assert find_filtered(nodes) is None


def test_a_cache_that_still_reads_its_source_in_the_third_pass_never_completes():
    reads = {1: node("MemoryCacheImpl", 9, 0.1, [2]), 2: node("Map", 9, 0.1)}
    assert [has_unfilled_cache(reads, nth) for nth in (2, 3)] == [False, True]
    assert not has_unfilled_cache({1: node("MemoryCacheImpl", 9, 0.1)}, 3)
