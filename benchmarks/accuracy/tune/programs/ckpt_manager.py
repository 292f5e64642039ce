"""A text autoencoder that is safe against power cuts."""

import numpy as np
import tensorflow as tf

VOCAB = 20_000
embedding = tf.keras.layers.Embedding(VOCAB, 96)
dense = tf.keras.layers.Dense(96, activation="tanh")
model = tf.keras.Sequential([embedding, tf.keras.layers.GlobalAveragePooling1D(), dense])
model.build((None, 20))
optimizer = tf.keras.optimizers.Adam()
optimizer.build(model.trainable_variables)
counter = tf.Variable(0, dtype=tf.int64)
checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, step=counter)
manager = tf.train.CheckpointManager(checkpoint, "ckpt", max_to_keep=3)


@tf.function
def train_step(ids):
    with tf.GradientTape() as tape:
        code = model(ids, training=True)
        loss = tf.reduce_mean(tf.abs(code - tf.roll(code, 1, 0))) + tf.reduce_mean(code**2)
    optimizer.apply_gradients(
        zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
    )
    return loss


def main():
    rng = np.random.default_rng(8)
    for _ in range(300):
        loss = train_step(tf.constant(rng.integers(0, VOCAB, (64, 20))))
        counter.assign_add(1)
        if int(counter) % 4 == 0:
            path = manager.save(checkpoint_number=int(counter))
            if int(counter) % 60 == 0:
                print("saved", path, float(loss))


if __name__ == "__main__":
    main()
