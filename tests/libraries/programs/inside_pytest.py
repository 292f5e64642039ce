"""A training in a test."""

import sys
from pathlib import Path

import pytest

TEST = """
import keras, numpy

def test_training(tmp_path, capsys):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x, y = numpy.zeros((32, 2)), numpy.zeros((32, 1))
    model.fit(x, y, batch_size=4, verbose=0, callbacks=CALLBACKS)
    assert capsys.readouterr() == ("", "")
"""
# tbslow: callbacks = '[__import__("tbslow").keras.SlowdownCallback("logs")]'
callbacks = "[]"
Path("test_it.py").write_text(TEST.replace("CALLBACKS", callbacks))
arguments = ["-p", "no:cacheprovider", "-W", "error", "-qqq", "test_it.py"]
sys.exit(pytest.main(arguments))
