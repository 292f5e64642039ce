"""Matrix factorisation with side towers for a zine fair: which reader buys which zine."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

READERS = 300_000
ZINES = 20_000
DIM = 32
TOPICS = 12
BATCH = 512
STEPS_PER_EPOCH = 120
EPOCHS = 8


def make_sales(n, seed=0):
    rng = np.random.default_rng(seed)
    reader = (rng.pareto(1.1, n) * 2000).astype("int64") % READERS
    zine = (rng.pareto(1.3, n) * 150).astype("int64") % ZINES
    topic = zine % TOPICS
    hour = rng.integers(9, 19, n)
    taste = reader * 2654435761 % TOPICS
    p = 1 / (1 + np.exp(-(1.5 * (taste == topic) - 0.6 + 0.05 * (hour - 14))))
    bought = (rng.random(n) < p).astype("float32")
    return (
        reader.astype("int32"),
        zine.astype("int32"),
        topic.astype("int32"),
        hour.astype("int32"),
        bought,
    )


def as_dataset(arrays, training):
    reader, zine, topic, hour, y = arrays
    ds = tf.data.Dataset.from_tensor_slices(
        ({"reader": reader, "zine": zine, "topic": topic, "hour": hour}, y)
    )
    if training:
        ds = ds.shuffle(20_000, seed=1)
    return ds.batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


class TwoSide(keras.Model):
    def __init__(self, l2=1e-7):
        super().__init__()
        reg = keras.regularizers.L2(l2)
        self.reader = keras.layers.Embedding(READERS, DIM, embeddings_regularizer=reg)
        self.zine = keras.layers.Embedding(ZINES, DIM, embeddings_regularizer=reg)
        self.topic = keras.layers.Embedding(TOPICS, 8)
        self.hour = keras.layers.Embedding(24, 4)
        self.mix = keras.Sequential(
            [
                keras.layers.Dense(128, activation="relu"),
                keras.layers.Dense(64, activation="relu"),
                keras.layers.Dense(1),
            ]
        )

    def call(self, inputs, training=False):
        r = self.reader(inputs["reader"])
        z = self.zine(inputs["zine"])
        side = tf.concat([self.topic(inputs["topic"]), self.hour(inputs["hour"])], axis=-1)
        dot = tf.reduce_sum(r * z, axis=-1, keepdims=True)
        return dot + self.mix(tf.concat([r, z, side], axis=-1))


class Warmup(keras.callbacks.Callback):
    def __init__(self, target, steps):
        super().__init__()
        self.target, self.steps, self.seen = target, steps, 0

    def on_train_batch_begin(self, batch, logs=None):
        if self.seen < self.steps:
            self.seen += 1
            self.model.optimizer.learning_rate = self.target * self.seen / self.steps


def hit_rate(model, rng, n=20, k=10):
    hits = 0
    for _ in range(n):
        reader = rng.integers(0, 2000)
        zines = rng.integers(0, ZINES, 400).astype("int32")
        feed = {
            "reader": np.full(400, reader, "int32"),
            "zine": zines,
            "topic": zines % TOPICS,
            "hour": np.full(400, 14, "int32"),
        }
        score = model({k_: tf.constant(v) for k_, v in feed.items()})[:, 0].numpy()
        top = zines[np.argsort(-score)[:k]]
        hits += np.mean(top % TOPICS == reader * 2654435761 % TOPICS)
    return hits / n


def main():
    keras.utils.set_random_seed(2)
    n = BATCH * STEPS_PER_EPOCH
    train = as_dataset(make_sales(n, 0), True)
    valid = as_dataset(make_sales(n // 10, 1), False)
    model = TwoSide()
    model.compile(
        optimizer=keras.optimizers.SGD(0.1),
        loss=keras.losses.BinaryCrossentropy(from_logits=True),
        metrics=[keras.metrics.BinaryAccuracy(threshold=0.0, name="acc")],
    )
    model.fit(train, validation_data=valid, epochs=EPOCHS, verbose=2, callbacks=[Warmup(0.1, 60)])
    print("topic hit rate at 10:", hit_rate(model, np.random.default_rng(4)))


if __name__ == "__main__":
    main()
