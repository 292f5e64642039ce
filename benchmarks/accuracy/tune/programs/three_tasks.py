"""One trunk and three heads; which task is trained next is drawn by chance."""

import random

import numpy as np
import tensorflow as tf

trunk = tf.keras.Sequential([tf.keras.Input((100,)), tf.keras.layers.Dense(200, "relu")])
heads = {
    "price": tf.keras.Sequential([tf.keras.Input((200,)), tf.keras.layers.Dense(1)]),
    "kind": tf.keras.Sequential(
        [
            tf.keras.Input((200,)),
            tf.keras.layers.Dense(400, "relu"),
            tf.keras.layers.Dense(400, "relu"),
            tf.keras.layers.Dense(30),
        ]
    ),
    "words": tf.keras.Sequential([tf.keras.Input((200,)), tf.keras.layers.Dense(2500)]),
}
optimizers = {name: tf.keras.optimizers.Adam(1e-3) for name in heads}


def make_step(name):
    head, optimizer = heads[name], optimizers[name]
    weights = trunk.trainable_variables + head.trainable_variables
    optimizer.build(weights)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            out = head(trunk(x, training=True), training=True)
            if name == "price":
                loss = tf.reduce_mean(tf.square(out[:, 0] - tf.cast(y, tf.float32)))
            else:
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, out))
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return loss

    return step


steps = {name: make_step(name) for name in heads}
x = np.random.rand(512, 100).astype("float32")
for i in range(2500):
    task = random.choice(list(steps))
    rows = np.random.randint(0, 512, 64)
    loss = steps[task](tf.constant(x[rows]), tf.constant(rows % 30))
    if i % 200 == 0:
        print(i, task, float(loss))
