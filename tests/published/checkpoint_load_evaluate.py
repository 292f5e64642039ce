"""Saves the best model while it trains, loads it, evaluates it, and trains it on.

After the tutorial "Save and load models" (`ModelCheckpoint`, `load_model`, `load_weights`).
"""

import numpy as np
import tensorflow as tf

# tbslow: import tbslow; tbslow.start("logs"); slowdown = [tbslow.keras.SlowdownCallback("logs")]
slowdown = []

tf.keras.utils.set_random_seed(1)
rng = np.random.RandomState(1)
images = rng.rand(320, 8, 8).astype("float32")
labels = (images.mean((1, 2)) * 40).astype("int64") % 4
train, test = slice(256), slice(256, None)


def create_model():
    model = tf.keras.Sequential(
        [
            tf.keras.Input((8, 8)),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(32, activation="relu"),
            tf.keras.layers.Dropout(0.2),
            tf.keras.layers.Dense(4),
        ]
    )
    model.compile(
        optimizer="adam",
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


model = create_model()
model.summary()
best = tf.keras.callbacks.ModelCheckpoint("best.keras", monitor="val_loss", save_best_only=True)
weights = tf.keras.callbacks.ModelCheckpoint("last.weights.h5", save_weights_only=True)
history = model.fit(
    images[train],
    labels[train],
    epochs=3,
    validation_data=(images[test], labels[test]),
    callbacks=[best, weights, *slowdown],
    verbose=2,
)
print({name: np.round(values, 5).tolist() for name, values in history.history.items()})

loaded = tf.keras.models.load_model("best.keras")
print("loaded:", np.round(loaded.evaluate(images[test], labels[test], verbose=0), 5))
print("compiled:", loaded.compiled, loaded.optimizer.name, int(loaded.optimizer.iterations))
history = loaded.fit(images[train], labels[train], epochs=2, verbose=0, callbacks=slowdown)
print("trained on:", np.round(history.history["loss"], 5))

fresh = create_model()
print("untrained:", np.round(fresh.evaluate(images[test], labels[test], verbose=0), 5))
fresh.load_weights("last.weights.h5")
print("restored:", np.round(fresh.evaluate(images[test], labels[test], verbose=0), 5))

model.save("model.h5")
from_h5 = tf.keras.models.load_model("model.h5")
print("from h5:", np.round(from_h5.evaluate(images[test], labels[test], verbose=0), 5))
same = np.array_equal(
    from_h5.predict(images[test], verbose=0), model.predict(images[test], verbose=0)
)
print("same predictions:", same)
