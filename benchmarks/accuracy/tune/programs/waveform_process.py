"""Earthquake waveforms are cut and filtered in another process, ahead of the training."""

import multiprocessing

import numpy as np


def produce(queue, count, seed):
    rng = np.random.default_rng(seed)
    kernel = np.hanning(9) / np.hanning(9).sum()
    for _ in range(count):
        quake = rng.integers(0, 2, 32)
        waves = rng.normal(size=(32, 300))
        waves[:, 150:200] += quake[:, None] * rng.normal(0, 2, (32, 50))
        waves = np.stack([np.convolve(w, kernel, "same") for w in waves])
        queue.put((waves[..., None].astype(np.float32), quake.astype(np.float32)))
    queue.put(None)


def main():
    import tensorflow as tf

    context = multiprocessing.get_context("spawn")
    queue = context.Queue(maxsize=16)
    producer = context.Process(target=produce, args=(queue, 700, 1), daemon=True)
    producer.start()

    net = tf.keras.Sequential(
        [
            tf.keras.Input((300, 1)),
            tf.keras.layers.Conv1D(16, 9, strides=2, activation="relu"),
            tf.keras.layers.Conv1D(32, 9, strides=2, activation="relu"),
            tf.keras.layers.Conv1D(32, 9, activation="relu"),
            tf.keras.layers.GlobalMaxPooling1D(),
            tf.keras.layers.Dense(1),
        ]
    )
    bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
    net.compile(tf.keras.optimizers.Adam(1e-3), bce, metrics=["accuracy"])
    number = 0
    while (item := queue.get()) is not None:
        logs = net.train_on_batch(*item, return_dict=True)
        number += 1
        if number % 100 == 0:
            print(number, {k: round(float(v), 4) for k, v in logs.items()})
    producer.join()


if __name__ == "__main__":
    main()
