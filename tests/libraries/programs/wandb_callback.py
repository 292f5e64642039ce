"""Weights & Biases' Keras callbacks, offline."""

import os

os.environ.update(WANDB_MODE="offline", WANDB_SILENT="true")
import keras
import numpy as np
import wandb
from wandb.integration.keras import WandbMetricsLogger, WandbModelCheckpoint

# tbslow: import tbslow; slowdown = [tbslow.keras.SlowdownCallback("logs")]
slowdown = []

keras.utils.set_random_seed(1)
x = np.random.default_rng(1).normal(size=(128, 8)).astype("float32")
y = x.sum(1, keepdims=True)
model = keras.Sequential(
    [keras.Input((8,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)]
)
model.compile("adam", "mse")
with wandb.init(project="test") as run:
    history = model.fit(
        x,
        y,
        batch_size=16,
        epochs=3,
        verbose=0,
        validation_data=(x, y),
        callbacks=[WandbMetricsLogger(log_freq=2), WandbModelCheckpoint("model.keras"), *slowdown],
    )
    print(sorted((k, v) for k, v in dict(run.summary).items() if not k.startswith("_")))
print(history.history)
