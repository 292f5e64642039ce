"""SimCLR on pictures of sea shells without labels; views are made in the model."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SIDE, BATCH, EPOCHS, TEMPERATURE = 40, 256, 22, 0.2


def shells(n=1280, seed=14):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] / SIDE - 0.5
    angle, r = np.arctan2(yy, xx), np.hypot(yy, xx)
    turns, sharp, hue = rng.uniform(4, 20, n), rng.uniform(1, 4, n), rng.uniform(0.2, 1, (n, 3))
    gray = np.cos(angle + turns[:, None, None] * r) ** 2 * np.exp(-sharp[:, None, None] * r)
    return (gray[..., None] * hue[:, None, None]).astype("float32")


class SimCLR(keras.Model):
    def __init__(self):
        super().__init__()
        self.views = keras.Sequential(
            [
                layers.RandomFlip("horizontal"),
                layers.RandomTranslation(0.15, 0.15),
                layers.RandomBrightness(0.2, value_range=(0, 1)),
            ]
        )
        self.encoder = keras.Sequential(
            [
                layers.Conv2D(24, 3, strides=2, activation="relu"),
                layers.Conv2D(48, 3, activation="relu"),
                layers.Conv2D(64, 3, strides=2, activation="relu"),
                layers.GlobalAveragePooling2D(),
            ]
        )
        self.head = keras.Sequential([layers.Dense(64, activation="relu"), layers.Dense(32)])

    def call(self, x, training=False):
        z = self.head(self.encoder(self.views(x, training=training)))
        return tf.math.l2_normalize(z, axis=1)

    def train_step(self, x):
        with tf.GradientTape() as tape:
            one, two = self(x, training=True), self(x, training=True)
            similar = tf.matmul(one, two, transpose_b=True) / TEMPERATURE
            target = tf.range(tf.shape(x)[0])
            ce = tf.nn.sparse_softmax_cross_entropy_with_logits
            loss = tf.reduce_mean(ce(target, similar) + ce(target, tf.transpose(similar)))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        found = tf.reduce_mean(tf.cast(tf.argmax(similar, 1, tf.int32) == target, tf.float32))
        return {"loss": loss, "found": found}


data = tf.data.Dataset.from_tensor_slices(shells()).shuffle(1280).batch(BATCH).prefetch(1)
model = SimCLR()
model.compile(optimizer=keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(0.5, 110)))
model.fit(data, epochs=EPOCHS, verbose=2)
features = model.encoder.predict(shells(64, seed=15), verbose=0)
print("spread of features", features.std(axis=0).mean())
