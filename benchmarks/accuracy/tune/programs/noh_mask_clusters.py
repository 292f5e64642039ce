"""Deep clustering of Noh mask carvings: cluster the features every third epoch, train on the assignments in between."""

import time
from dataclasses import dataclass

import numpy as np
import keras
import tensorflow as tf
from keras import layers


@dataclass
class Troupe:
    masks: int = 1536
    side: int = 32
    clusters: int = 10
    batch: int = 64
    epochs: int = 12
    every: int = 3
    seed: int = 404


def carve(t, rng):
    kinds = rng.normal(0, 1, (t.clusters, 8, 8, 3))
    k = rng.integers(0, t.clusters, t.masks)
    base = np.kron(kinds[k], np.ones((1, 4, 4, 1)))
    shade = rng.uniform(0.6, 1.4, (t.masks, 1, 1, 1))
    x = base * shade + rng.normal(0, 0.8, (t.masks, t.side, t.side, 3))
    return x.astype("float32"), k


def trunk(side):
    inp = keras.Input((side, side, 3))
    h = inp
    for width, stride in ((24, 1), (32, 2), (48, 2), (64, 2)):
        h = layers.Conv2D(width, 3, strides=stride, padding="same", use_bias=False)(h)
        h = layers.BatchNormalization()(h)
        h = layers.ReLU()(h)
    return keras.Model(inp, layers.GlobalAveragePooling2D()(h), name="trunk")


def kmeans(z, k, rng, rounds=15):
    centre = z[rng.choice(len(z), k, replace=False)]
    for _ in range(rounds):
        d = (z**2).sum(1)[:, None] - 2 * z @ centre.T + (centre**2).sum(1)[None]
        a = d.argmin(1)
        for j in range(k):
            if np.any(a == j):
                centre[j] = z[a == j].mean(0)
    return a


def purity(a, k):
    return sum(np.bincount(k[a == j]).max() for j in np.unique(a)) / len(k)


class DeepCluster(keras.Model):
    def __init__(self, body, clusters):
        super().__init__()
        self.body = body
        self.head = layers.Dense(clusters)
        self.fresh_head = keras.initializers.GlorotUniform(seed=3)

    def call(self, x, training=False):
        return self.head(self.body(x, training=training))

    def new_round(self):
        if self.head.built:
            self.head.kernel.assign(self.fresh_head(self.head.kernel.shape))
            self.head.bias.assign(tf.zeros_like(self.head.bias))


def jitter(i, x, y):
    x = tf.image.random_flip_left_right(x)
    return x + tf.random.normal(tf.shape(x), stddev=0.1), tf.gather(y, i)


def main():
    t = Troupe()
    keras.utils.set_random_seed(t.seed)
    rng = np.random.default_rng(t.seed)
    x, kind = carve(t, rng)
    labels = tf.Variable(tf.zeros([t.masks], tf.int32), trainable=False)
    model = DeepCluster(trunk(t.side), t.clusters)
    model.compile(
        keras.optimizers.SGD(0.03, momentum=0.9),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    ds = (
        tf.data.Dataset.from_tensor_slices((np.arange(t.masks), x))
        .shuffle(t.masks)
        .batch(t.batch)
        .map(lambda i, im: jitter(i, im, labels), num_parallel_calls=2)
        .prefetch(2)
    )
    plain = tf.data.Dataset.from_tensor_slices(x).batch(256).prefetch(1)
    start = time.time()
    for first in range(0, t.epochs, t.every):
        z = model.body.predict(plain, verbose=0)
        z = (z - z.mean(0)) / (z.std(0) + 1e-5)
        assign = kmeans(z, t.clusters, rng)
        labels.assign(assign.astype("int32"))
        model.new_round()
        h = model.fit(ds, initial_epoch=first, epochs=first + t.every, verbose=0)
        print(
            f"epochs {first + 1}-{first + t.every}: purity {purity(assign, kind):.3f} "
            f"loss {h.history['loss'][-1]:.3f} acc {h.history['accuracy'][-1]:.3f}"
        )
    print(f"training took {time.time() - start:.2f} s")


if __name__ == "__main__":
    main()
