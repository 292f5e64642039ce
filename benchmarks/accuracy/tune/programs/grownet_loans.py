"""GrowNet: boosting with small nets. After each new net, all of them are corrected together."""

import numpy as np
import tensorflow as tf

ROWS, COLUMNS, BATCH, NETS = 12000, 40, 768, 4
WEAK_STEPS, CORRECTIVE_STEPS = 120, 260
rng = np.random.default_rng(71)


def loans():
    x = rng.normal(size=(ROWS, COLUMNS))
    risk = x[:, 0] * x[:, 1] + np.sin(3 * x[:, 2]) + (x[:, 3] > 1) * x[:, 4]
    y = rng.random(ROWS) < 1 / (1 + np.exp(-2 * risk))
    return x.astype("float32"), y.astype("float32")[:, None]


class Weak(tf.keras.Model):
    """Two layers; hands its last features on to the next."""

    def __init__(self, width=256):
        super().__init__()
        self.one = tf.keras.layers.Dense(width, activation="relu")
        self.two = tf.keras.layers.Dense(width, activation="relu")
        self.out = tf.keras.layers.Dense(1)

    def call(self, x):
        features = self.two(self.one(x))
        return self.out(features), features


class GrowNet:
    def __init__(self):
        self.nets, self.rate = [], tf.Variable(0.5)

    def __call__(self, x):
        total, features = 0.0, None
        for net in self.nets:
            out, features = net(x if features is None else tf.concat([x, features], -1))
            total += self.rate * out
        return total, features

    def add(self, x, y):
        """A net for what the others have left over."""
        net = Weak()
        optimizer = tf.keras.optimizers.Adam(2e-3)

        @tf.function
        def weak_step(rows):
            x_, y_ = tf.gather(x, rows), tf.gather(y, rows)
            total, features = self(x_)
            left = y_ - tf.sigmoid(total)
            inputs = x_ if features is None else tf.concat([x_, features], -1)
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((net(inputs)[0] - 4.0 * left) ** 2)
            weights = net.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))

        for _ in range(WEAK_STEPS):
            weak_step(tf.random.uniform([BATCH], 0, ROWS, tf.int32))
        self.nets.append(net)

    def correct(self, x, y):
        weights = [w for net in self.nets for w in net.trainable_variables] + [self.rate]
        optimizer = tf.keras.optimizers.Adam(4e-4)

        @tf.function
        def corrective_step(rows):
            with tf.GradientTape() as tape:
                total, _ = self(tf.gather(x, rows))
                loss = tf.nn.sigmoid_cross_entropy_with_logits(tf.gather(y, rows), total)
                loss = tf.reduce_mean(loss)
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
            return loss

        losses = []
        for _ in range(CORRECTIVE_STEPS):
            losses.append(float(corrective_step(tf.random.uniform([BATCH], 0, ROWS, tf.int32))))
        return np.mean(losses[-30:])


x, y = (tf.constant(part) for part in loans())
grown = GrowNet()
for number in range(NETS):
    grown.add(x, y)
    print(f"{number + 1} nets: loss {grown.correct(x, y):.4f}, rate {float(grown.rate):.3f}")
