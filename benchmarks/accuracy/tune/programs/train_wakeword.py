"""Small keyword-spotting model on log-mel features."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf

SR = 8000
CLIP = SR  # one second
FRAME, HOP, N_MEL = 256, 80, 40
NUM_KEYWORDS = 12
BATCH = 16
EPOCHS = 13
STEPS_PER_EPOCH = 50

tf.random.set_seed(3)
rng = np.random.default_rng(3)


def make_corpus(n_clips):
    """Each keyword is a pair of formant-like tones with its own sweep."""
    t = np.arange(CLIP, dtype=np.float32) / SR
    waves = np.empty((n_clips, CLIP), np.int16)
    labels = rng.integers(0, NUM_KEYWORDS, n_clips).astype(np.int32)
    for i, k in enumerate(labels):
        f0 = 180 + 90 * k + rng.normal(0, 12)
        sweep = (k % 4 - 1.5) * 220
        onset = rng.uniform(0.1, 0.5)
        env = np.exp(-(((t - onset - 0.15) / 0.12) ** 2))
        y = np.sin(2 * np.pi * (f0 * t + 0.5 * sweep * t * t))
        y += 0.5 * np.sin(2 * np.pi * (2.3 * f0 * t))
        y = env * y + rng.normal(0, 0.25, CLIP)
        waves[i] = np.clip(y * 9000, -32768, 32767)
    return waves, labels


MEL = tf.signal.linear_to_mel_weight_matrix(N_MEL, FRAME // 2 + 1, SR, 60.0, 3800.0)


def augment(wave, label):
    wave = tf.cast(wave, tf.float32) / 32768.0
    shift = tf.random.uniform([], -800, 800, tf.int32)
    wave = tf.roll(wave, shift, 0)
    gain = tf.random.uniform([], 0.6, 1.2)
    noise = tf.random.normal(tf.shape(wave), stddev=0.02)
    return gain * wave + noise, label


def log_mel(wave, label):
    stft = tf.signal.stft(wave, FRAME, HOP)
    mel = tf.matmul(tf.square(tf.abs(stft)), MEL)
    feat = tf.math.log(mel + 1e-5)
    feat -= tf.reduce_mean(feat, axis=0, keepdims=True)
    return feat[..., tf.newaxis], label


def input_pipeline(waves, labels, training):
    ds = tf.data.Dataset.from_tensor_slices((waves, labels))
    if training:
        ds = ds.shuffle(1024, seed=11).repeat()
        ds = ds.map(augment, num_parallel_calls=2)
    else:
        ds = ds.map(lambda w, l: (tf.cast(w, tf.float32) / 32768.0, l))
    ds = ds.map(log_mel, num_parallel_calls=2)
    return ds.batch(BATCH, drop_remainder=True).prefetch(2)


def build_model():
    L = tf.keras.layers
    inp = tf.keras.Input((1 + (CLIP - FRAME) // HOP, N_MEL, 1))
    x = L.Conv2D(32, (5, 5), strides=(2, 1), padding="same", use_bias=False)(inp)
    x = L.BatchNormalization()(x)
    x = L.ReLU()(x)
    for width in (32, 48):
        y = L.Conv2D(width, 3, strides=2, padding="same", activation="relu")(x)
        y = L.Conv2D(width, 3, padding="same")(y)
        x = L.ReLU()(L.Add()([y, L.Conv2D(width, 1, strides=2)(x)]))
    x = L.GlobalAveragePooling2D()(x)
    x = L.Dropout(0.2)(x)
    return tf.keras.Model(inp, L.Dense(NUM_KEYWORDS)(x))


def main():
    waves, labels = make_corpus(2400)
    train_ds = input_pipeline(waves[:2200], labels[:2200], True)
    valid_ds = input_pipeline(waves[2200:], labels[2200:], False).cache()

    model = build_model()
    opt = tf.keras.optimizers.Adam(2e-3)
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    train_acc = tf.keras.metrics.SparseCategoricalAccuracy()
    valid_acc = tf.keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            loss = loss_fn(y, logits)
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        train_acc.update_state(y, logits)
        return loss

    @tf.function
    def valid_step(x, y):
        valid_acc.update_state(y, model(x, training=False))

    for epoch in range(EPOCHS):
        train_acc.reset_state()
        valid_acc.reset_state()
        total = 0.0
        # every epoch continues with the next stretch of the stream
        epoch_ds = train_ds.skip(epoch * STEPS_PER_EPOCH).take(STEPS_PER_EPOCH)
        for x, y in epoch_ds:
            total += float(train_step(x, y))
        for x, y in valid_ds:
            valid_step(x, y)
        print(
            f"epoch {epoch + 1}/{EPOCHS}  loss {total / STEPS_PER_EPOCH:.4f}  "
            f"acc {float(train_acc.result()):.3f}  val_acc {float(valid_acc.result()):.3f}"
        )


if __name__ == "__main__":
    main()
