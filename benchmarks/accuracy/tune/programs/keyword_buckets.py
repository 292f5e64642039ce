"""Keyword spotting on utterances of different lengths, bucketed by duration."""

import time

import numpy as np
import tensorflow as tf

RATE = 8000
KEYWORDS = ["up", "down", "left", "right", "stop", "go"]
N_TRAIN, N_VAL = 1200, 240
FRAME, HOP, MELS = 256, 128, 40
BOUNDARIES = [48, 72, 96]
BATCH_SIZES = [48, 32, 24, 16]
LONGEST = 128
EPOCHS = 6


def synth_utterance(rng, label):
    dur = rng.uniform(0.45, 1.95)
    t = np.arange(int(dur * RATE)) / RATE
    f0 = 110 * 2 ** rng.normal(0, 0.2)
    formants = [(500, 1500), (700, 1100), (300, 2300), (400, 1900), (600, 900), (350, 2700)][label]
    glide = 1 + 0.2 * (label - 2.5) / 2.5 * t / dur
    phase = 2 * np.pi * f0 * np.cumsum(glide) / RATE
    wave = sum(
        np.sin(k * phase) * sum(np.exp(-(((k * f0 - f) / 180) ** 2)) for f in formants)
        for k in range(1, 24)
    )
    env = np.minimum(1, np.minimum(t, dur - t) / 0.05)
    return (wave * env + rng.normal(0, 0.25, len(t))).astype("float32")


def write_split(n, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(KEYWORDS), n).astype("int32")
    return [synth_utterance(rng, int(c)) for c in labels], labels


MEL_MATRIX = tf.signal.linear_to_mel_weight_matrix(MELS, FRAME // 2 + 1, RATE, 60.0, 3900.0)


def log_mel(wave, label):
    spec = tf.abs(tf.signal.stft(wave, FRAME, HOP))
    mel = tf.math.log(tf.matmul(spec, MEL_MATRIX) + 1e-3)
    mel = (mel - tf.reduce_mean(mel)) / (tf.math.reduce_std(mel) + 1e-5)
    return tf.ensure_shape(mel, (None, MELS)), label


def make_dataset(waves, labels, training):
    def gen():
        for w, c in zip(waves, labels):
            yield w, c

    sig = (tf.TensorSpec((None,), tf.float32), tf.TensorSpec((), tf.int32))
    ds = tf.data.Dataset.from_generator(gen, output_signature=sig)
    ds = ds.map(log_mel, num_parallel_calls=2).cache()
    if training:
        ds = ds.shuffle(len(labels), reshuffle_each_iteration=True)
    ds = ds.bucket_by_sequence_length(
        lambda m, c: tf.shape(m)[0],
        BOUNDARIES + [LONGEST],
        BATCH_SIZES + [1],
        pad_to_bucket_boundary=True,
        drop_remainder=training,
    )
    return ds.prefetch(4)


class Spotter(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.convs = [
            tf.keras.layers.Conv1D(128, 5, padding="same", activation="relu") for _ in range(3)
        ]
        self.norms = [tf.keras.layers.LayerNormalization() for _ in range(3)]
        self.rnn = tf.keras.layers.Bidirectional(tf.keras.layers.GRU(96, return_sequences=True))
        self.score = tf.keras.layers.Dense(1)
        self.head = tf.keras.layers.Dense(len(KEYWORDS))
        self.drop = tf.keras.layers.Dropout(0.2)

    def call(self, x, training=False):
        for conv, norm in zip(self.convs, self.norms):
            x = norm(conv(x))
        h = self.rnn(self.drop(x, training=training))
        weight = tf.nn.softmax(self.score(h), axis=1)
        return self.head(tf.reduce_sum(weight * h, axis=1))


def main():
    tf.keras.utils.set_random_seed(3)
    train = make_dataset(*write_split(N_TRAIN, 0), training=True)
    val = make_dataset(*write_split(N_VAL, 1), training=False)
    model = Spotter()
    model(tf.zeros((1, 47, MELS)))
    optimizer = tf.keras.optimizers.AdamW(1e-3, weight_decay=1e-4)
    optimizer.build(model.trainable_variables)
    ce = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    spec = [tf.TensorSpec((None, None, MELS), tf.float32), tf.TensorSpec((None,), tf.int32)]

    @tf.function(input_signature=spec)
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = ce(y, model(x, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 5.0)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    @tf.function(input_signature=spec)
    def correct(x, y):
        guess = tf.argmax(model(x), axis=1, output_type=tf.int32)
        return tf.reduce_sum(tf.cast(guess == y, tf.int32))

    started = time.time()
    step = 0
    for epoch in range(EPOCHS):
        total = 0.0
        for x, y in train:
            total += train_step(x, y)
            step += 1
            if step % 50 == 0:
                print("step %d (%d frames x %d)" % (step, x.shape[1], x.shape[0]))
        hits = sum(int(correct(x, y)) for x, y in val)
        print("epoch %d  accuracy %.3f  sum of losses %.2f" % (epoch, hits / N_VAL, float(total)))
    print("training took %.1f s, %d steps" % (time.time() - started, step))


if __name__ == "__main__":
    main()
