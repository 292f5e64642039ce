"""A Keras fit that saves the whole model, optimizer and all, every 20 batches."""

import sys
import tempfile

import tensorflow as tf

import tbslow

tf.keras.utils.set_random_seed(1)


def main(logdir: str) -> None:
    features = tf.random.normal([6400, 256])
    labels = tf.random.uniform([6400], maxval=10, dtype=tf.int32)
    dataset = tf.data.Dataset.from_tensor_slices((features, labels)).batch(64).cache().prefetch(2)
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(1024, "relu"),
            tf.keras.layers.Dense(1024, "relu"),
            tf.keras.layers.Dense(10),
        ]
    )
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    with tempfile.TemporaryDirectory() as saved:
        model.fit(
            dataset,
            epochs=6,
            verbose=0,
            callbacks=[
                tbslow.keras.SlowdownCallback(logdir),
                tf.keras.callbacks.ModelCheckpoint(f"{saved}/model.keras", save_freq=20),
            ],
        )


if __name__ == "__main__":
    main(sys.argv[1])
