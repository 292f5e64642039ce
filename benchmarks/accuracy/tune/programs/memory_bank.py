"""Contrastive learning against a bank of all embeddings so far."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)
encoder = tf.keras.Sequential(
    [tf.keras.Input((100,)), tf.keras.layers.Dense(128, "relu"), tf.keras.layers.Dense(64)]
)
optimizer = tf.keras.optimizers.Adam(1e-3)
bank = tf.zeros([1, 64])

for step in range(450):
    x = rng.normal(size=(64, 100)).astype("float32")
    noisy = x + 0.1 * rng.normal(size=x.shape).astype("float32")
    with tf.GradientTape() as tape:
        query = tf.math.l2_normalize(encoder(x, training=True), 1)
        key = tf.stop_gradient(tf.math.l2_normalize(encoder(noisy, training=True), 1))
        positive = tf.reduce_sum(query * key, 1, keepdims=True)
        negative = tf.matmul(query, bank, transpose_b=True)
        logits = tf.concat([positive, negative], 1) / 0.07
        loss = tf.reduce_mean(
            tf.nn.softmax_cross_entropy_with_logits(
                tf.one_hot(tf.zeros([64], tf.int32), tf.shape(logits)[1]), logits
            )
        )
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    bank = tf.concat([bank, key], axis=0)
    if step % 50 == 0:
        print(step, float(loss), "bank", bank.shape[0])
