"""A pretrained base with a new head: trained frozen, then unfrozen and fine-tuned.

After the guide "Transfer learning and fine-tuning"; the base is pretrained here, on another task.
"""

import keras
import numpy as np
import tensorflow as tf

# tbslow: import tbslow; slowdown = [tbslow.keras.SlowdownCallback("logs")]
slowdown = []

keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)


def stripes(count, direction, classes):
    label = rng.integers(0, classes, count)
    wave = np.sin(np.arange(16) * (label[:, None] + 1) * 0.5)
    images = np.repeat(wave[:, None] if direction else wave[:, :, None], 16, 1 + (not direction))
    noise = rng.normal(0, 0.3, (count, 16, 16))
    return (images + noise)[..., None].astype("float32"), label


base = keras.Sequential(
    [
        keras.Input((16, 16, 1)),
        keras.layers.Conv2D(8, 3, activation="relu"),
        keras.layers.BatchNormalization(),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(16, 3, activation="relu"),
        keras.layers.GlobalAveragePooling2D(),
    ],
    name="base",
)
x, y = stripes(256, 0, 5)
pretrained = keras.Sequential([base, keras.layers.Dense(5)])
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
pretrained.compile("adam", loss)
print("pretraining:", pretrained.fit(x, y, epochs=2, verbose=0).history["loss"])
base.save("base.keras")

x, y = stripes(192, 1, 2)
train = tf.data.Dataset.from_tensor_slices((x[:128], y[:128])).batch(16).cache().prefetch(2)
valid = tf.data.Dataset.from_tensor_slices((x[128:], y[128:])).batch(16)

base = keras.models.load_model("base.keras", compile=False)
base.trainable = False
inputs = keras.Input((16, 16, 1))
flipped = keras.layers.RandomFlip("vertical", seed=4)(inputs)
features = keras.layers.Dropout(0.2, seed=5)(base(flipped, training=False))
model = keras.Model(inputs, keras.layers.Dense(1)(features))
model.compile(
    keras.optimizers.Adam(1e-2),
    keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.BinaryAccuracy()],
)
model.summary(show_trainable=True)
print("trainable while frozen:", len(model.trainable_weights))
model.fit(train, validation_data=valid, epochs=3, verbose=2, callbacks=slowdown)

base.trainable = True
for layer in base.layers[:2]:
    layer.trainable = False
model.compile(
    keras.optimizers.Adam(1e-4),
    keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.BinaryAccuracy()],
)
print("trainable for fine-tuning:", len(model.trainable_weights))
stop = keras.callbacks.EarlyStopping("val_loss", patience=1, restore_best_weights=True)
model.fit(train, validation_data=valid, epochs=3, verbose=2, callbacks=[stop, *slowdown])
print("evaluated:", [f"{value:.5f}" for value in model.evaluate(valid, verbose=0)])
