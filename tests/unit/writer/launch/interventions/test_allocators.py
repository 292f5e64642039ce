"""Another allocator is there, or the reason why not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

import tensorflow as tf

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.writer.launch.interventions import allocators
from tb_slowdown_plugin.writer.launch.interventions.allocators import FastAllocator, has_tcmalloc

pytestmark = pytest.mark.tensorflow


@pytest.fixture(autouse=True)
def _machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without tcmalloc and without a GPU."""
    monkeypatch.setattr(allocators, "has_tcmalloc", lambda: False)
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: [])
    monkeypatch.setenv("TF_GPU_ALLOCATOR", "")
    monkeypatch.delenv("TF_GPU_ALLOCATOR")


def test_without_another_allocator_it_cannot_be_tried() -> None:
    with pytest.raises(Unavailable, match="tcmalloc isn't installed, and there is no GPU"):
        FastAllocator(200).install()


def test_tcmalloc_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocators, "has_tcmalloc", lambda: True)
    intervention = FastAllocator(200)
    intervention.install()
    assert intervention.applied == 1
    assert "TF_GPU_ALLOCATOR" not in os.environ


def test_a_gpu_gets_the_allocator_of_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: [kind])
    FastAllocator(200).install()
    assert os.environ["TF_GPU_ALLOCATOR"] == "cuda_malloc_async"


def test_a_choice_of_the_user_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: [kind])
    monkeypatch.setenv("TF_GPU_ALLOCATOR", "other")
    with pytest.raises(Unavailable):
        FastAllocator(200).install()
    assert os.environ["TF_GPU_ALLOCATOR"] == "other"


@pytest.mark.parametrize(
    ("text", "has"), [("7f0 r-xp /usr/lib/libtcmalloc_minimal.so.4\n", True), ("7f0 libc\n", False)]
)
def test_tcmalloc_is_seen_in_the_maps_of_the_process(tmp_path: Path, text: str, has: bool) -> None:
    maps = tmp_path / "maps"
    assert has_tcmalloc(maps) is False
    maps.write_text(text)
    assert has_tcmalloc(maps) is has
