"""Count coral cover classes in survey tiles: first the head, then the whole net."""

import os
import tempfile

import numpy as np
import tensorflow as tf
import keras
from keras import layers

SIDE = 40
KINDS = 5
TILES = 2400
HEAD_EPOCHS = 6
ALL_EPOCHS = 5


def tiles(count, seed):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, KINDS, count)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    images = rng.normal(0, 0.4, (count, SIDE, SIDE, 3)).astype(np.float32)
    for i, k in enumerate(kind):
        cx, cy = rng.uniform(0.3, 0.7, 2)
        r = np.hypot(xx - cx, yy - cy)
        pattern = np.cos((8 + 5 * k) * r) * np.exp(-3 * r)
        images[i] += pattern[..., None] * rng.uniform(0.5, 1.2, 3)
    return images, kind.astype(np.int32)


class Encoder(keras.Model):
    def __init__(self):
        super().__init__(name="encoder")
        self.stages = [
            keras.Sequential(
                [
                    layers.Conv2D(w, 3, strides=s, padding="same", use_bias=False),
                    layers.BatchNormalization(),
                    layers.Activation("relu"),
                ]
            )
            for w, s in ((24, 1), (32, 2), (48, 1), (64, 2))
        ]

    def call(self, x, training=False):
        for stage in self.stages:
            x = stage(x, training=training)
        return x


class Survey(keras.Model):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.pool = layers.GlobalAveragePooling2D()
        self.mid = layers.Dense(96, activation="relu")
        self.out = layers.Dense(KINDS)

    def call(self, x, training=False):
        z = self.encoder(x, training=training and self.encoder.trainable)
        return self.out(self.mid(self.pool(z)))


def earlier_weights(encoder, seed=1):
    """Stand-in for an encoder from last year's survey."""
    rng = np.random.default_rng(seed)
    encoder(np.zeros((1, SIDE, SIDE, 3), np.float32))
    for v in encoder.trainable_variables:
        if len(v.shape) == 4:
            v.assign(rng.normal(0, np.sqrt(2 / np.prod(v.shape[:3])), v.shape))


def compile_for(model, rate):
    model.compile(
        optimizer=keras.optimizers.Adam(rate),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )


def main():
    keras.utils.set_random_seed(2)
    images, kind = tiles(TILES + 400, 2)
    train = (
        tf.data.Dataset.from_tensor_slices((images[:TILES], kind[:TILES]))
        .shuffle(TILES)
        .batch(32)
        .map(lambda x, y: (tf.image.random_flip_left_right(x), y), num_parallel_calls=2)
        .prefetch(2)
    )
    held = tf.data.Dataset.from_tensor_slices((images[TILES:], kind[TILES:])).batch(100)
    encoder = Encoder()
    earlier_weights(encoder)
    model = Survey(encoder)
    with tempfile.TemporaryDirectory() as folder:
        keep = keras.callbacks.ModelCheckpoint(
            os.path.join(folder, "best.weights.h5"),
            monitor="val_accuracy",
            save_best_only=True,
            save_weights_only=True,
        )
        encoder.trainable = False
        compile_for(model, 2e-3)
        model.fit(train, validation_data=held, epochs=HEAD_EPOCHS, callbacks=[keep], verbose=2)
        encoder.trainable = True
        compile_for(model, 5e-4)
        model.fit(
            train,
            validation_data=held,
            epochs=HEAD_EPOCHS + ALL_EPOCHS,
            initial_epoch=HEAD_EPOCHS,
            callbacks=[keep],
            verbose=2,
        )


if __name__ == "__main__":
    main()
