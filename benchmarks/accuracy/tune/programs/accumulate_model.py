"""A subclassed model that applies gradients of four batches at once."""

import numpy as np
import tensorflow as tf


class Accumulating(tf.keras.Model):
    def __init__(self, every=4):
        super().__init__()
        self.every = every
        self.hidden = [tf.keras.layers.Dense(256, "relu") for _ in range(3)]
        self.last = tf.keras.layers.Dense(10)
        self.loss_tracker = tf.keras.metrics.Mean(name="loss")

    def build(self, shape):
        for layer in self.hidden:
            layer.build(shape)
            shape = (None, 256)
        self.last.build(shape)
        self.counter = self.add_weight(
            shape=(), dtype="int32", trainable=False, name="n", initializer="zeros"
        )
        self.sums = [
            self.add_weight(shape=v.shape, trainable=False, initializer="zeros", name=f"sum{k}")
            for k, v in enumerate(self.trainable_variables)
        ]

    def call(self, x, training=False):
        for layer in self.hidden:
            x = layer(x)
        return self.last(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(
                tf.keras.losses.sparse_categorical_crossentropy(y, self(x, training=True), True)
            )
        for total, g in zip(self.sums, tape.gradient(loss, self.trainable_variables)):
            total.assign_add(g / self.every)
        self.counter.assign_add(1)
        tf.cond(tf.equal(self.counter % self.every, 0), self.apply_sums, lambda: None)
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}

    def apply_sums(self):
        self.optimizer.apply([tf.convert_to_tensor(s) for s in self.sums], self.trainable_variables)
        for total in self.sums:
            total.assign(tf.zeros_like(total))

    @property
    def metrics(self):
        return [self.loss_tracker]


model = Accumulating()
model.build((None, 60))
model.compile(tf.keras.optimizers.Adam(1e-3))
model.optimizer.build(model.trainable_variables)
x, y = np.random.rand(9600, 60).astype("float32"), np.random.randint(0, 10, 9600)
model.fit(x, y, batch_size=32, epochs=5, verbose=2)
