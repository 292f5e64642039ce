"""A search for hyperparameters, early stopping in each trial, and the best model trained on.

After the tutorial "Introduction to the Keras Tuner".
"""

import keras
import keras_tuner as kt
import numpy as np

# tbslow: import tbslow; slowdown = [tbslow.keras.SlowdownCallback("logs")]
slowdown = []

keras.utils.set_random_seed(10)
rng = np.random.default_rng(10)
images = rng.normal(size=(256, 12)).astype("float32")
labels = (images[:, :3].sum(1) > 0).astype("int64")


def model_builder(hp):
    model = keras.Sequential([keras.Input((12,))])
    units = hp.Int("units", min_value=8, max_value=32, step=8)
    model.add(keras.layers.Dense(units=units, activation="relu"))
    if hp.Boolean("dropout"):
        model.add(keras.layers.Dropout(0.25, seed=1))
    model.add(keras.layers.Dense(2))
    rate = hp.Choice("learning_rate", values=[1e-1, 1e-2, 1e-3])
    model.compile(
        optimizer=keras.optimizers.Adam(learning_rate=rate),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


tuner = kt.RandomSearch(
    model_builder,
    objective="val_accuracy",
    max_trials=3,
    executions_per_trial=2,
    seed=10,
    directory="tuning",
    project_name="intro",
)
tuner.search_space_summary()
stop_early = keras.callbacks.EarlyStopping(monitor="val_loss", patience=2)
search = {"epochs": 3, "validation_split": 0.25, "verbose": 0}
tuner.search(images, labels, callbacks=[stop_early, *slowdown], **search)
best = tuner.get_best_hyperparameters(num_trials=1)[0]
print("best:", best.values)
for trial in tuner.oracle.get_best_trials(3):
    print(trial.trial_id, f"{trial.score:.5f}", trial.hyperparameters.values)

loaded = tuner.get_best_models(num_models=1)[0]
print("loaded:", [f"{value:.5f}" for value in loaded.evaluate(images, labels, verbose=0)])
model = tuner.hypermodel.build(best)
history = model.fit(images, labels, epochs=3, validation_split=0.25, verbose=0, callbacks=slowdown)
print([f"{value:.5f}" for value in history.history["val_accuracy"]])
