"""Wake words from raw audio: mel spectrograms on the way, a small convolutional net in fit."""

import numpy as np
import tensorflow as tf

RATE, WORDS = 16_000, 8


def recordings(n):
    """One second each: chirps that differ in their slope."""
    rng = np.random.default_rng(9)
    t = np.arange(RATE) / RATE
    y = rng.integers(0, WORDS, n)
    start = rng.uniform(200, 500, (n, 1))
    x = np.sin(2 * np.pi * (start * t + (100 + 150 * y[:, None]) * t**2))
    x *= rng.uniform(0.2, 1.0, (n, 1))
    return (x + rng.normal(0, 0.1, x.shape)).astype("float32"), y


mel_weights = tf.signal.linear_to_mel_weight_matrix(40, 513, RATE, 80.0, 7600.0)


def log_mel(wave, word):
    spectrum = tf.abs(tf.signal.stft(wave, frame_length=1024, frame_step=64, fft_length=1024))
    mel = tf.matmul(spectrum**2, mel_weights)
    mel = tf.math.log(mel + 1e-6)
    mel = tf.image.resize(mel[..., None], (48, 40))
    return mel, word


waves, words = recordings(900)
split = 780
train = tf.data.Dataset.from_tensor_slices((waves[:split], words[:split]))
train = train.shuffle(split).map(log_mel).batch(20)
valid = tf.data.Dataset.from_tensor_slices((waves[split:], words[split:]))
valid = valid.map(log_mel).batch(40).cache()

norm = tf.keras.layers.Normalization()
norm.adapt(train.take(4).map(lambda x, _: x))
net = tf.keras.models.Sequential(
    [
        tf.keras.layers.Input((48, 40, 1)),
        norm,
        tf.keras.layers.Conv2D(16, 3, activation="relu"),
        tf.keras.layers.Conv2D(24, 3, activation="relu"),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Dropout(0.25),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(WORDS),
    ]
)
net.compile(
    optimizer=tf.keras.optimizers.Adam(),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
history = net.fit(train, validation_data=valid, epochs=16, verbose=2)
print("best", max(history.history["val_accuracy"]))
