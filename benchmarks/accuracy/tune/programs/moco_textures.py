"""Momentum contrast on textures: a queue of fixed length holds the negatives."""

import numpy as np
import tensorflow as tf

DIM, QUEUE, BATCH, MOMENTUM, HEAT = 32, 2048, 32, 0.99, 0.1


def textures(n, side=32):
    rng = np.random.default_rng(19)
    f = rng.uniform(0.2, 1.5, (n, 4, 1, 1))
    yy, xx = np.mgrid[0:side, 0:side]
    a = np.sin(f[:, 0] * xx + f[:, 1] * yy)
    b = np.cos(f[:, 2] * xx - f[:, 3] * yy)
    return np.stack([a, b, a * b], -1).astype("float32")


def view(x):
    x = tf.image.random_crop(x, (24, 24, 3))
    x = tf.image.random_flip_left_right(x)
    return tf.image.random_brightness(x, 0.3)


def encoder():
    inputs = tf.keras.Input((24, 24, 3))
    x = inputs
    for filters in (16, 32, 48):
        x = tf.keras.layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
        x = tf.keras.layers.AveragePooling2D(2)(x)
    x = tf.keras.layers.Dense(DIM)(tf.keras.layers.Flatten()(x))
    return tf.keras.Model(inputs, tf.keras.layers.UnitNormalization()(x))


class MoCo(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.query, self.key = encoder(), encoder()
        self.key.trainable = False
        self.key.set_weights(self.query.get_weights())
        queue = tf.math.l2_normalize(tf.random.normal((QUEUE, DIM)), axis=1)
        self.queue = self.add_weight(shape=(QUEUE, DIM), trainable=False, name="queue")
        self.queue.assign(queue)
        self.place = self.add_weight(shape=(), dtype="int32", trainable=False, name="place")
        self.tracker = tf.keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.tracker]

    def call(self, x):
        return self.query(x)

    def train_step(self, views):
        one, other = views
        keys = tf.stop_gradient(self.key(other, training=True))
        with tf.GradientTape() as tape:
            q = self.query(one, training=True)
            positive = tf.reduce_sum(q * keys, 1, keepdims=True)
            logits = tf.concat([positive, tf.matmul(q, self.queue.value, transpose_b=True)], 1)
            zero = tf.zeros(tf.shape(q)[0], tf.int32)
            ce = tf.nn.sparse_softmax_cross_entropy_with_logits(zero, logits / HEAT)
            loss = tf.reduce_mean(ce)
        variables = self.query.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        for slow, fast in zip(self.key.variables, self.query.variables):
            slow.assign(MOMENTUM * slow + (1 - MOMENTUM) * fast)
        rows = tf.math.floormod(self.place.value + tf.range(BATCH), QUEUE)
        self.queue.assign(tf.tensor_scatter_nd_update(self.queue.value, rows[:, None], keys))
        self.place.assign(tf.math.floormod(self.place.value + BATCH, QUEUE))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


data = tf.data.Dataset.from_tensor_slices(textures(1600)).cache().shuffle(1600)
data = data.map(lambda x: (view(x), view(x)), tf.data.AUTOTUNE)
data = data.batch(BATCH, drop_remainder=True).prefetch(4)
model = MoCo()
model.compile(optimizer=tf.keras.optimizers.SGD(0.05, momentum=0.9))
model.fit(data, epochs=45, verbose=2)
