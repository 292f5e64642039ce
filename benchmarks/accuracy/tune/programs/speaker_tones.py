"""Multi-speaker vocoder toy: a FiLM-conditioned conv net predicts the next audio samples."""

import numpy as np
import tensorflow as tf

CHUNK, BATCH, SPEAKERS = 512, 8, 18
np.random.seed(11)
speakers = [f"spk{k:03d}" for k in range(SPEAKERS)]
pitch = {name: np.random.uniform(80, 300) for name in speakers}
table = {name: k for k, name in enumerate(speakers)}
share = 1.0 / np.arange(1, SPEAKERS + 1)
share /= share.sum()


def utterances(name):
    t = np.arange(CHUNK + 1) / 8000.0
    phase = np.random.uniform(0, 6.28, (BATCH, 1))
    wave = sum(np.sin(2 * np.pi * h * pitch[name] * t + phase) / h for h in (1, 2, 3, 5))
    wave += np.random.normal(0, 0.05, wave.shape)
    return wave.astype("float32")[..., None]


class Film(tf.keras.layers.Layer):
    def __init__(self, filters, dilation):
        super().__init__()
        self.conv = tf.keras.layers.Conv1D(filters, 3, padding="causal", dilation_rate=dilation)
        self.scale = tf.keras.layers.Dense(filters)
        self.shift = tf.keras.layers.Dense(filters)

    def call(self, x, voice):
        y = self.conv(x) * (1.0 + self.scale(voice)) + self.shift(voice)
        return x + tf.nn.tanh(y)


class Vocoder(tf.keras.Model):
    def __init__(self, filters=24, depth=5):
        super().__init__()
        self.voices = tf.keras.layers.Embedding(SPEAKERS, 16)
        self.first = tf.keras.layers.Conv1D(filters, 1)
        self.blocks = [Film(filters, 2**k) for k in range(depth)]
        self.last = tf.keras.layers.Conv1D(1, 1)

    def call(self, wave, speaker_id):
        voice = self.voices(speaker_id)[None]
        x = self.first(wave)
        for block in self.blocks:
            x = block(x, voice)
        return self.last(tf.nn.relu(x))


model = Vocoder()
optimizer = tf.keras.optimizers.Adam(2e-3)


@tf.function
def train_step(wave, speaker):
    speaker_id = tf.constant(table[speaker])
    with tf.GradientTape() as tape:
        guess = model(wave[:, :-1], speaker_id)
        loss = tf.reduce_mean(tf.square(guess - wave[:, 1:]))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


running = None
for step in range(700):
    name = np.random.choice(speakers, p=share)
    loss = train_step(tf.constant(utterances(name)), str(name))
    running = float(loss) if running is None else 0.98 * running + 0.02 * float(loss)
    if step % 100 == 0:
        print(f"step {step} {name} loss {running:.4f}")
