"""Speech frames of very different lengths, a fixed signature, and no bucketing."""

import numpy as np
import tensorflow as tf

mel = tf.keras.Sequential(
    [
        tf.keras.layers.Conv1D(48, 5, activation="relu", padding="same"),
        tf.keras.layers.Conv1D(48, 5, activation="relu", padding="same"),
        tf.keras.layers.Dense(20),
    ]
)
mel.build((None, None, 40))
optimizer = tf.keras.optimizers.Adam(1e-3)
optimizer.build(mel.trainable_variables)


@tf.function(
    input_signature=[tf.TensorSpec([None, None, 40]), tf.TensorSpec([None, None], tf.int32)]
)
def train(frames, phones):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=phones, logits=mel(frames))
        )
    optimizer.apply_gradients(
        zip(tape.gradient(loss, mel.trainable_variables), mel.trainable_variables)
    )
    return loss


rng = np.random.default_rng(31)
bank = rng.normal(size=(16, 900, 40)).astype("float32")
for i in range(700):
    length = int(np.clip(rng.lognormal(5.3, 0.5), 60, 900))
    loss = train(bank[:, :length], rng.integers(0, 20, (16, length)).astype("int32"))
    if i % 100 == 0:
        print(i, length, float(loss))
