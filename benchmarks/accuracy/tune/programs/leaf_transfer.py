"""Transfer learning on leaf pictures: head first, then top block, then everything."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

IMG = 40
BATCH = 48
PHASES = [
    # name, layers to open (from the top), learning rate, epochs
    ("head only", 0, 3e-3, 4),
    ("top block", 4, 1e-3, 4),
    ("everything", 99, 4e-4, 6),
]
keras.utils.set_random_seed(2024)


def paint_leaves(n, n_class, seed, vein):
    """Ellipses whose outline and veins depend on the species."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_class, n)
    g = np.linspace(-1, 1, IMG)
    yy, xx = np.meshgrid(g, g, indexing="ij")
    rot = rng.uniform(-0.6, 0.6, (n, 1, 1))
    u = xx * np.cos(rot) + yy * np.sin(rot)
    v = -xx * np.sin(rot) + yy * np.cos(rot)
    wide = (0.35 + 0.4 * (y % 3) / 3)[:, None, None]
    theta = np.arctan2(v, u)
    lobes = (2 + y)[:, None, None]
    radius = np.sqrt((u / 0.85) ** 2 + (v / wide) ** 2) * (1 + 0.15 * np.cos(lobes * theta))
    body = 1 / (1 + np.exp(12 * (radius - 0.9)))
    veins = 0.5 + 0.5 * np.cos(vein * (1 + y % 4)[:, None, None] * (u + np.abs(v)))
    tint = rng.uniform(0.6, 1.0, (n, 1, 1))
    img = np.stack([body * veins * 0.5, body * tint, body * (1 - veins) * 0.4], axis=-1)
    img += 0.15 * rng.normal(size=img.shape)
    return np.clip(img, 0, 1).astype("float32"), y.astype("int32")


def make_backbone():
    net = keras.Sequential(name="backbone")
    net.add(keras.Input((IMG, IMG, 3)))
    for filters, stride in ((16, 2), (32, 2), (48, 1), (64, 2)):
        net.add(layers.Conv2D(filters, 3, strides=stride, padding="same", use_bias=False))
        net.add(layers.BatchNormalization(momentum=0.9))
        net.add(layers.ReLU())
    net.add(layers.GlobalAveragePooling2D())
    return net


def as_dataset(x, y, training):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if training:
        ds = ds.shuffle(len(y), seed=1)
    return ds.batch(BATCH).prefetch(tf.data.AUTOTUNE)


def pretrain(backbone):
    x, y = paint_leaves(2400, 8, seed=0, vein=9)
    source = keras.Sequential([backbone, layers.Dense(8)])
    source.compile(
        keras.optimizers.Adam(2e-3),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    source.fit(as_dataset(x, y, True), epochs=3, verbose=2)


def open_from_top(backbone, count):
    backbone.trainable = True
    keep = len(backbone.layers) - count
    for i, layer in enumerate(backbone.layers):
        layer.trainable = i >= keep
    if count == 0:
        backbone.trainable = False


def main():
    backbone = make_backbone()
    print("== source task")
    pretrain(backbone)

    x, y = paint_leaves(1500, 6, seed=5, vein=14)
    train, val = as_dataset(x[:1200], y[:1200], True), as_dataset(x[1200:], y[1200:], False)

    inputs = keras.Input((IMG, IMG, 3))
    h = layers.RandomFlip("horizontal", seed=3)(inputs)
    h = layers.RandomTranslation(0.08, 0.08, seed=4)(h)
    h = backbone(h, training=False)
    h = layers.Dropout(0.2)(h)
    outputs = layers.Dense(6, activation="softmax")(h)
    model = keras.Model(inputs, outputs)

    for name, count, lr, epochs in PHASES:
        open_from_top(backbone, count)
        model.compile(
            keras.optimizers.Adam(lr), "sparse_categorical_crossentropy", metrics=["accuracy"]
        )
        n_open = sum(int(np.prod(w.shape)) for w in model.trainable_weights)
        print(f"== {name}: {n_open} trainable weights, lr {lr}")
        model.fit(
            train,
            validation_data=val,
            epochs=epochs,
            verbose=2,
            callbacks=[keras.callbacks.EarlyStopping(patience=2, restore_best_weights=True)],
        )
    loss, acc = model.evaluate(val, verbose=0)
    print(f"target task: loss {loss:.3f} accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
