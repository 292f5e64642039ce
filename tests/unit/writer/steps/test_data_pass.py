"""A pass over training data: an epoch from its second step on, and the items of its batches."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.records.types import Epoch
from tb_slowdown_plugin.writer.steps.data_pass import DataPass, ItemReader


def epochs(run) -> list[tuple[int, int]]:
    return [(e.row, e.what.number) for e in run.chunk().events if isinstance(e.what, Epoch)]


def test_the_second_step_of_a_pass_makes_it_an_epoch(run) -> None:
    run.step()
    fed = DataPass(run.recorder)
    run.step()
    assert not fed.is_epoch
    for _ in range(2):
        fed.note_fetch()
        assert fed.is_epoch
        run.step()
    assert epochs(run) == [(1, 0)]


def test_a_pass_that_feeds_no_step_is_no_epoch(run) -> None:
    run.step()
    looked_at = DataPass(run.recorder)
    looked_at.note_fetch()
    run.step()
    assert not looked_at.is_epoch
    assert epochs(run) == []


def test_observers_see_a_batch_that_looks_new_and_its_items_are_those_of_the_step(run) -> None:
    seen = []
    run.recorder.batch_observers.append(lambda batch: seen.append(batch.shape))
    fed = DataPass(run.recorder)
    for items in (8, 8, 4):
        fed.note_batch(np.zeros((items, 2)))
        assert run.recorder.batch_items == items
    assert seen == [(8, 2), (4, 2)]


@pytest.mark.tensorflow
def test_of_a_dataset_with_one_shape_only_the_first_batch_is_looked_at(run) -> None:
    tf = pytest.importorskip("tensorflow")
    seen = []
    run.recorder.batch_observers.append(lambda batch: seen.append(batch.shape.as_list()))
    source = tf.data.Dataset.range(100).batch(4, drop_remainder=True)
    fed = DataPass(run.recorder, source)
    for batch in source:
        fed.note_batch(batch)
    assert seen == [[4]]
    assert run.recorder.batch_items == 4


def test_items_are_read_where_all_tensors_agree_on_them() -> None:
    reader = ItemReader()
    assert reader.read({"x": np.zeros((8, 2)), "scalar": np.zeros(())}) == 8
    assert ItemReader().read((np.zeros((8, 2)), np.zeros(3))) is None
