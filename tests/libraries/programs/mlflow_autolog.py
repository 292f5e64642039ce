"""MLflow's autologging of a Keras training, into files."""

import os

os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
import keras
import mlflow
import numpy as np

# tbslow: import tbslow; slowdown = [tbslow.keras.SlowdownCallback("logs")]
slowdown = []

mlflow.set_tracking_uri("file:./mlruns")
mlflow.tensorflow.autolog(log_models=True)
keras.utils.set_random_seed(1)
x = np.random.default_rng(1).normal(size=(128, 8)).astype("float32")
y = x.sum(1, keepdims=True)
model = keras.Sequential(
    [keras.Input((8,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)]
)
model.compile("adam", "mse")
with mlflow.start_run() as run:
    history = model.fit(
        x, y, batch_size=16, epochs=3, verbose=0, validation_data=(x, y), callbacks=slowdown
    )
print(history.history)
logged = mlflow.get_run(run.info.run_id).data
print(sorted(logged.metrics.items()), sorted(logged.params.items()))
