"""How many times as long a step takes with each setting of `catalog/slow_settings.py`.

    python benchmarks/slow_settings.py                 # 5 minutes
    python benchmarks/slow_settings.py --only tracemalloc

Three trainings, each in a process of its own, in turns with the same one without the setting:
a `fit` of dense layers, a `fit` of convolutions, and an eager loop. Prints ratios of the step
time, the median of the turns. Settings of a GPU can't be measured without one.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from typing import Final

_SWITCHES: Final = {
    "check_numerics": "tf.debugging.enable_check_numerics()",
    "dump_debug_info": "tf.debugging.experimental.enable_dump_debug_info(folder)",
    "functions_run_eagerly": "tf.config.run_functions_eagerly(True)",
    "data_debug_mode": "tf.data.experimental.enable_debug_mode()",
    "tracemalloc": "import tracemalloc; tracemalloc.start()",
    "trace_function": "trace = lambda *_: trace; sys.settrace(trace)",
    "profile_function": "import cProfile; cProfile.Profile().enable()",
    "verbose_logs": "",
}
_VARIABLES: Final = {"verbose_logs": {"TF_CPP_MAX_VLOG_LEVEL": "1", "TF_CPP_MIN_LOG_LEVEL": "0"}}

_HEAD: Final = """
import sys, time
import numpy as np
import tensorflow as tf
folder = sys.argv[1]
tf.keras.utils.set_random_seed(1)
layers = tf.keras.layers
loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
"""
_FIT: Final = """
model.compile("adam", loss)
y = np.random.randint(0, 10, len(x))
batches = tf.data.Dataset.from_tensor_slices((x, y)).map(lambda a, b: (2.0 * a, b)).batch(32)
model.fit(batches, verbose=0)
began = time.perf_counter()
model.fit(batches, verbose=0)
print((time.perf_counter() - began) / (len(x) // 32))
"""
_TRAININGS: Final = {
    "fit, dense": """
x = np.random.rand(32 * 300, 100).astype("f")
model = tf.keras.Sequential([*(layers.Dense(256, "relu") for _ in range(3)), layers.Dense(10)])
"""
    + _FIT,
    "fit, convolutions": """
x = np.random.rand(32 * 60, 28, 28, 1).astype("f")
model = tf.keras.Sequential([layers.Conv2D(16, 3, activation="relu"),
    layers.Conv2D(32, 3, activation="relu"), layers.GlobalAveragePooling2D(), layers.Dense(10)])
"""
    + _FIT,
    "eager loop": """
x, y = tf.random.normal((64, 100)), tf.random.uniform((64,), 0, 10, tf.int32)
model = tf.keras.Sequential([*(layers.Dense(64, "relu") for _ in range(3)), layers.Dense(10)])
optimizer = tf.keras.optimizers.Adam()
def step():
    with tf.GradientTape() as tape:
        lost = loss(y, model(x))
    wanted = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(lost, wanted), wanted))
for _ in range(10):
    step()
began = time.perf_counter()
for _ in range(50):
    step()
print((time.perf_counter() - began) / 50)
""",
}


def main() -> None:
    """Measure all of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=_SWITCHES, help="one setting")
    parser.add_argument("--turns", type=int, default=3)
    given = parser.parse_args()
    print("| setting | " + " | ".join(_TRAININGS) + " |")
    print("|---|" + "---|" * len(_TRAININGS))
    for setting in [given.only] if given.only else _SWITCHES:
        ratios = [_ratio(setting, training, given.turns) for training in _TRAININGS.values()]
        print(
            f"| `{setting}` | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " |", flush=True
        )


def _ratio(setting: str, training: str, turns: int) -> float:
    plain = _HEAD + training
    switched = _HEAD + _SWITCHES[setting] + training
    return statistics.median(
        _seconds(switched, _VARIABLES.get(setting, {})) / _seconds(plain, {}) for _ in range(turns)
    )


def _seconds(program: str, variables: dict[str, str]) -> float:
    """Of a step."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", program, folder],
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
        )
    return float(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
