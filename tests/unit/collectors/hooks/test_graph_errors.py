"""TensorFlow's errors name the program's lines and no frame of ours."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

import tensorflow as tf

import tbslow

pytestmark = pytest.mark.tensorflow


def failing_call() -> str:
    @tf.function
    def fail(x):
        tf.debugging.assert_greater(x, 5.0, message="too small")

    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        fail(tf.constant(1.0))
    return str(caught.value)


def test_an_error_in_a_graph_names_no_frame_of_ours(tmp_path: Path) -> None:
    said = []
    with tbslow.start(tmp_path):
        said.append(failing_call())
        thread = threading.Thread(target=lambda: said.append(failing_call()))
        thread.start()
        thread.join()
    assert len(said) == 2
    for text in said:
        assert "defined at (most recent call last)" in text
        assert Path(__file__).name in text
        assert "tb_slowdown_plugin/" not in text
