"""What a record says of the pipeline of a program: its stages, and where they are."""

import pytest

from tb_slowdown_plugin.analysis.causes.common.programs.pipeline import Pipeline


def test_a_pipeline_has_its_stages_in_order():
    pipeline = Pipeline(("TFRecord", "Map", "Shuffle", "ParallelBatch"))
    assert pipeline.reads_files
    assert pipeline.has("Map")
    assert not pipeline.has("Cache")
    assert pipeline.comes_before("Map", "Batch")
    assert not pipeline.comes_before("Batch", "Map")


@pytest.mark.parametrize(
    ("stages", "numbers", "slow", "fits"),
    [
        ("TFRecord Map Batch", {}, "", True),
        ("TFRecord Map Batch", {"random": 1.0}, "", True),
        ("TensorSlice Map Batch", {"random": 1.0}, "", False),
        ("TensorSlice Map Map Batch", {"random": 2.0}, "Map#4", True),
        ("TensorSlice Map Map Batch", {"random": 2.0}, "Map#3", True),
        ("TensorSlice Map Map Batch", {"random": 2.0}, "MapAndBatch#2", False),
        ("TensorSlice Map Map ParallelBatch", {"random": 2.0}, "Map#3", False),
        ("TensorSlice Repeat Map Batch", {"endless": 1.0}, "", False),
        ("TensorSlice Map Repeat Batch", {"endless": 2.0}, "", True),
        ("TensorSlice Shuffle Batch Prefetch", {}, "", False),
        ("Tensor FlatMap Batch", {"generator": 1.0}, "", False),
    ],
)
def test_a_cache_fits_work_that_gives_the_same_elements_in_each_epoch(stages, numbers, slow, fits):
    assert Pipeline(tuple(stages.split()), numbers).can_cache(slow) is fits


def test_a_prefetch_counts_where_nothing_works_behind_it():
    assert Pipeline(("Range", "Map", "Batch", "Prefetch", "Take")).is_prefetched
    assert not Pipeline(("Range", "Prefetch", "Map", "Batch")).is_prefetched
