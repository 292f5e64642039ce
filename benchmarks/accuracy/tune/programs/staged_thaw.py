"""Fine-tunes a sound net in three stages: the head, the upper half, everything."""

import dataclasses
import sys

import numpy as np
import tensorflow as tf


@dataclasses.dataclass
class Stage:
    name: str
    layers: int
    rate: float
    steps: int


STAGES = [
    Stage("head", 0, 2e-3, 1200),
    Stage("upper half", 3, 5e-4, 1200),
    Stage("everything", 6, 1e-4, 1200),
]


def clips(n, classes):
    rng = np.random.default_rng(64)
    y = rng.integers(0, classes, n)
    t = np.arange(1024) / 1024
    x = np.sin(2 * np.pi * (20 + 12 * y[:, None]) * t) + rng.normal(0, 1.0, (n, 1024))
    return x[..., None].astype("float32"), y


def body():
    net = tf.keras.Sequential([tf.keras.Input((1024, 1))])
    for filters in (8, 16, 24, 32, 32, 48):
        net.add(tf.keras.layers.Conv1D(filters, 9, strides=2, padding="same", activation="relu"))
    net.add(tf.keras.layers.GlobalAveragePooling1D())
    return net


def pretrain(net):
    x, y = clips(640, 20)
    old = tf.keras.Sequential([net, tf.keras.layers.Dense(20)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    old.compile("adam", loss)
    old.fit(x, y, batch_size=32, epochs=4, verbose=2)


def fine_tune(net, head, stage, data):
    convolutions = [layer for layer in net.layers if layer.trainable_variables]
    chosen = convolutions[len(convolutions) - stage.layers :]
    variables = [v for layer in [*chosen, head] for v in layer.trainable_variables]
    optimizer = tf.keras.optimizers.Adam(stage.rate)
    optimizer.build(variables)

    @tf.function
    def step(x, y):
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch([v.value for v in variables])
            logits = head(net(x))
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        grads = tape.gradient(loss, [v.value for v in variables])
        optimizer.apply(grads, variables)
        return loss

    for k, (x, y) in enumerate(data.take(stage.steps), 1):
        loss = step(x, y)
        if k % 300 == 0:
            print(f"{stage.name}: step {k} loss {float(loss):.4f}", file=sys.stderr)


def main():
    net = body()
    pretrain(net)
    head = tf.keras.layers.Dense(7)
    head.build((None, 48))
    data = tf.data.Dataset.from_tensor_slices(clips(1400, 7)).cache().repeat()
    data = data.shuffle(1400).batch(32).prefetch(tf.data.AUTOTUNE)
    for stage in STAGES:
        fine_tune(net, head, stage, data)


main()
