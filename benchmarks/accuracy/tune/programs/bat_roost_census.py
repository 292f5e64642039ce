"""Count which bat species leaves the roost: log-mel features and a small conv net."""

import math
import time

import numpy as np
import tensorflow as tf

RATE = 16000
CLIP = 16000
SPECIES = 6
BATCH = 32
EPOCHS = 24
N_TRAIN, N_VAL = 1500, 160


def synth_clips(n, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, SPECIES, n)
    t = np.arange(CLIP) / RATE
    clips = np.empty((n, CLIP), np.int16)
    for i, k in enumerate(labels):
        start, sweep = 1800 + 700 * k, 900 + 150 * ((k * 5) % SPECIES)
        rate = 6 + k + rng.normal(0, 0.4)
        ramp = (t * rate) % 1.0
        call = np.sin(2 * math.pi * (start * t + sweep * ramp * t)) * np.exp(-6 * ramp)
        noise = rng.normal(0, 0.8, CLIP)
        clips[i] = np.clip((call + noise) * 6000, -32000, 32000)
    return clips, labels.astype(np.int32)


MEL = tf.signal.linear_to_mel_weight_matrix(48, 513, RATE, 300.0, 7800.0)


def features(pcm, label):
    wave = tf.cast(pcm, tf.float32) / 32768.0
    wave = tf.concat([wave[:1], wave[1:] - 0.97 * wave[:-1]], 0)
    spec = tf.abs(tf.signal.stft(wave, 1024, 64, 1024))
    mel = tf.math.log(tf.matmul(spec, MEL) + 1e-5)
    mel = tf.reduce_mean(tf.reshape(mel[:232], (58, 4, 48)), 1)
    mel = (mel - tf.reduce_mean(mel, 0)) / (tf.math.reduce_std(mel) + 1e-3)
    return mel[..., None], label


def dataset(clips, labels):
    ds = tf.data.Dataset.from_tensor_slices((clips, labels))
    ds = ds.map(features, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.cache().batch(BATCH)


def build():
    return tf.keras.Sequential(
        [
            tf.keras.Input((58, 48, 1)),
            tf.keras.layers.Conv2D(12, 5, strides=2, activation="relu"),
            tf.keras.layers.Conv2D(24, 3, strides=2, activation="relu"),
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.Dense(32, activation="relu"),
            tf.keras.layers.Dense(SPECIES),
        ]
    )


def main():
    tf.keras.utils.set_random_seed(3)
    train_ds = dataset(*synth_clips(N_TRAIN, 0))
    val_ds = dataset(*synth_clips(N_VAL, 1))
    steps = N_TRAIN // BATCH
    model = build()
    opt = tf.keras.optimizers.Adam(2e-3)
    xent = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = xent(y, model(x, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    @tf.function(reduce_retracing=True)
    def hits(x, y):
        guess = tf.argmax(model(x, training=False), -1, output_type=tf.int32)
        return tf.reduce_sum(tf.cast(guess == y, tf.int32))

    for epoch in range(EPOCHS):
        began = time.time()
        total = tf.zeros(())
        for x, y in train_ds.take(steps).prefetch(2):
            total += train_step(x, y)
        right = sum(int(hits(x, y)) for x, y in val_ds)
        print(
            f"epoch {epoch}: loss {float(total) / steps:.3f} "
            f"val acc {right / N_VAL:.3f} ({time.time() - began:.1f}s)"
        )


if __name__ == "__main__":
    main()
