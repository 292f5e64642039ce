"""Steps that are slow because the pipeline takes their cores lose what a cache gives back."""

from __future__ import annotations

from pathlib import Path

import pytest
from integration.training_host import TrainingHost

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.reader.logdir import read_runs

pytestmark = [
    pytest.mark.timed,
    pytest.mark.tensorflow,
    pytest.mark.slow,
    pytest.mark.further,
]

FIT = """
import numpy as np
def spectrum(wave):
    found = tf.abs(tf.signal.stft(wave, frame_length=1024, frame_step=32, fft_length=1024))
    return tf.image.resize(found[..., None], (48, 40)), 1.0

data = tf.data.Dataset.from_tensor_slices(np.random.rand(600, 8_000).astype("float32"))
data = data.map(spectrum){cached}.batch(20)
model = tf.keras.Sequential([
    tf.keras.Input((48, 40, 1)),
    tf.keras.layers.Conv2D(16, 3, activation="relu"),
    tf.keras.layers.Conv2D(24, 3, activation="relu"),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(1),
])
model.compile("adam", "mse")
model.fit(data, epochs=10, verbose=0, callbacks=[tbslow.keras.SlowdownCallback(logdir)])
"""


def test_what_the_pipeline_takes_is_what_a_cache_gives_back(
    host: TrainingHost, tmp_path: Path
) -> None:
    slow = _report(host, tmp_path / "slow", FIT.format(cached=""))
    cached = _report(host, tmp_path / "cached", FIT.format(cached=".cache()"))
    (cause,) = [each for each in slow.causes if each.cause == "input_pipeline"]
    assert cause.place is not None
    assert cause.place.function == "spectrum"
    assert slow.healthy_step_seconds == pytest.approx(cached.healthy_step_seconds, rel=0.25)
    assert "input_pipeline" not in {each.cause for each in cached.causes}


def _report(host: TrainingHost, logdir: Path, body: str) -> Report:
    done = host.run(body, logdir)
    assert done.returncode == 0, done.stderr
    (run,) = read_runs(str(logdir), warn=print)
    return account_for(run).report
