# Plant pathology starter notebook, exported as a script
import os
import tempfile
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

CFG = dict(
    img_size=64,
    batch_size=32,
    epochs=10,
    lr=3e-4,
    classes=["healthy", "rust", "scab", "blight"],
    n_train=960,
    n_val=192,
    save_every_epochs=2,
    seed=42,
)
keras.utils.set_random_seed(CFG["seed"])


def draw_leaf(rng, label, size):
    yy, xx = np.mgrid[0:size, 0:size] / size - 0.5
    angle = rng.uniform(0, np.pi)
    u = xx * np.cos(angle) + yy * np.sin(angle)
    v = -xx * np.sin(angle) + yy * np.cos(angle)
    leaf = ((u / 0.42) ** 2 + (v / 0.24) ** 2 < 1).astype("float32")
    img = np.stack([0.15 + 0.1 * leaf, 0.2 + 0.45 * leaf, 0.12 + 0.08 * leaf], -1)
    spots = {0: 0, 1: 14, 2: 6, 3: 3}[label]
    colour = {1: (0.7, 0.35, 0.05), 2: (0.15, 0.15, 0.05), 3: (0.5, 0.45, 0.3)}.get(label)
    radius = {1: 0.02, 2: 0.05, 3: 0.11}.get(label, 0)
    for _ in range(spots):
        a, b = rng.uniform(-0.25, 0.25, 2)
        m = ((xx - a) ** 2 + (yy - b) ** 2 < radius**2) & (leaf > 0)
        img[m] = colour
    return (img + rng.normal(0, 0.05, img.shape)).clip(0, 1)


def make_split(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(CFG["classes"]), n)
    x = np.stack([draw_leaf(rng, int(c), CFG["img_size"]) for c in y])
    return (x * 255).astype("uint8"), y.astype("int32")


def make_dataset(x, y, training):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if training:
        ds = ds.shuffle(len(x), seed=CFG["seed"])
    ds = ds.batch(CFG["batch_size"], drop_remainder=training)
    ds = ds.map(lambda a, b: (tf.cast(a, tf.float32) / 255.0, b), num_parallel_calls=2)
    return ds.prefetch(2)


def conv_bn(x, filters, strides=1):
    x = layers.Conv2D(filters, 3, strides=strides, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization(momentum=0.9)(x)
    return layers.Activation("relu")(x)


def build_model():
    inputs = keras.Input((CFG["img_size"], CFG["img_size"], 3))
    x = layers.RandomFlip("horizontal_and_vertical")(inputs)
    x = conv_bn(x, 32, strides=2)
    x = conv_bn(x, 64, strides=2)
    x = conv_bn(x, 128, strides=2)
    x = layers.Flatten()(x)
    x = layers.Dense(512, activation="relu")(x)
    x = layers.Dropout(0.4)(x)
    outputs = layers.Dense(len(CFG["classes"]), activation="softmax")(x)
    model = keras.Model(inputs, outputs)
    model.compile(
        optimizer=keras.optimizers.Adam(CFG["lr"]),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model


x_train, y_train = make_split(CFG["n_train"], 1)
x_val, y_val = make_split(CFG["n_val"], 2)
train_ds = make_dataset(x_train, y_train, True)
val_ds = make_dataset(x_val, y_val, False)
steps_per_epoch = CFG["n_train"] // CFG["batch_size"]

workdir = tempfile.mkdtemp(prefix="leaf_")
model = build_model()
model.summary(print_fn=lambda s: None)
print("trainable parameters: %.1fM" % (model.count_params() / 1e6))

callbacks = [
    keras.callbacks.ModelCheckpoint(
        os.path.join(workdir, "leaf_cnn.keras"),
        save_freq=CFG["save_every_epochs"],
        verbose=0,
    ),
    keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=2),
    keras.callbacks.CSVLogger(os.path.join(workdir, "history.csv")),
]

start = time.time()
history = model.fit(
    train_ds,
    validation_data=val_ds,
    epochs=CFG["epochs"],
    callbacks=callbacks,
    verbose=2,
)
print("training took %.1f s" % (time.time() - start))

probs = model.predict(val_ds, verbose=0)
pred = probs.argmax(1)
for i, name in enumerate(CFG["classes"]):
    mask = y_val == i
    print("%-8s recall %.3f (n=%d)" % (name, (pred[mask] == i).mean(), mask.sum()))
print("best val acc: %.3f" % max(history.history["val_accuracy"]))
