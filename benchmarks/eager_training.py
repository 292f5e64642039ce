"""What a step without a graph takes beyond the same step as a `tf.function`, and what we say of it.

    python benchmarks/eager_training.py                # eight models: 8 minutes
    python benchmarks/eager_training.py mlp attention

Prints for each model what the graph spares, timed, and what the report of the eager training says
that it would spare.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parent.parent))

from tb_slowdown_plugin.analysis.prepare.eager_training import (
    find_eager_training,
)
from tb_slowdown_plugin.reader.logdir import read_runs

MODELS: Final = {
    "mlp": (1500, "Dense(64, 'relu'), Dense(64, 'relu'), Dense(10)", (32, 40)),
    "wide mlp": (250, "Dense(1024, 'relu'), Dense(1024, 'relu'), Dense(10)", (512, 512)),
    "deep mlp": (500, "*[Dense(128, 'relu') for _ in range(12)], Dense(10)", (64, 128)),
    "norms": (
        400,
        "*[each for _ in range(4) for each in (Dense(256), LayerNormalization(), "
        "Activation('gelu'))], Dense(10)",
        (256, 256),
    ),
    "cnn": (
        500,
        "Conv2D(16, 3, activation='relu'), MaxPool2D(), Conv2D(32, 3, activation='relu'), "
        "Flatten(), Dense(10)",
        (32, 28, 28, 1),
    ),
    "wide cnn": (
        60,
        "Conv2D(48, 3, activation='relu'), Conv2D(48, 3, activation='relu'), "
        "GlobalAveragePooling2D(), Dense(10)",
        (64, 32, 32, 3),
    ),
    "lstm": (60, "LSTM(32), Dense(10)", (32, 20, 16)),
    "gru": (60, "GRU(64, return_sequences=True), GRU(32), Dense(10)", (32, 12, 16)),
}
"""Name -> (steps, layers, shape of a batch)."""

_PROGRAM: Final = """
import sys, time
import numpy as np, tensorflow as tf
from tensorflow import keras
from tensorflow.keras.layers import *

tf.keras.utils.set_random_seed(1)
model = keras.Sequential([{layers}])
x = tf.constant(np.random.default_rng(0).normal(size={shape}).astype("float32"))
y = tf.zeros([x.shape[0]], tf.int32)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(1e-3)

def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

if sys.argv[1] == "graph":
    step = tf.function(step)
step(x, y)
began = time.perf_counter()
for _ in range({steps}):
    step(x, y)
print((time.perf_counter() - began) / {steps})
"""


def main() -> None:
    """Times each model both ways, and reads what is said of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", help=", ".join(MODELS))
    chosen = parser.parse_args().models or list(MODELS)
    print(f"{'model':<10}{'eager, ms':>11}{'graph, ms':>11}{'spares':>9}{'we say':>9}")
    for name in chosen:
        steps, layers, shape = MODELS[name]
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "program.py"
            script.write_text(_PROGRAM.format(layers=layers, shape=shape, steps=steps))
            eager, graph = (_time(script, how) for how in ("eager", "graph"))
            said = _ask(script, Path(folder) / "logs")
        print(
            f"{name:<10}{1e3 * eager:>11.2f}{1e3 * graph:>11.2f}{1 - graph / eager:>9.0%}"
            f"{said:>9.0%}"
        )


def _time(script: Path, how: str) -> float:
    done = subprocess.run(
        [sys.executable, str(script), how], capture_output=True, text=True, check=True
    )
    return float(done.stdout.splitlines()[-1])


def _ask(script: Path, logdir: Path) -> float:
    run = [sys.executable, "-m", "tb_slowdown_plugin", "run", "--quiet", "--logdir", str(logdir)]
    subprocess.run([*run, str(script), "eager"], capture_output=True, check=True)
    (recorded,) = read_runs(str(logdir), warn=lambda text: print(text, file=sys.stderr))
    found = find_eager_training(recorded)
    return 0.0 if found is None else found.share


if __name__ == "__main__":
    main()
