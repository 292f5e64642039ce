"""Fault classification from gearbox microphone recordings (log-mel + small CNN)."""

import time
import numpy as np
import tensorflow as tf

SR = 16000
CLIP_S = 8
N_CLIPS = 120
FRAME, HOP, N_MELS = 512, 128, 48
CTX = 96  # frames seen by the network
FAULTS = ["ok", "pitting", "misalign", "bearing"]

rs = np.random.RandomState(3)


def synth_clip(k):
    t = np.arange(SR * CLIP_S) / SR
    f0 = rs.uniform(180, 260)
    x = 0.4 * np.sin(2 * np.pi * f0 * t) + 0.2 * np.sin(2 * np.pi * 3 * f0 * t)
    if k == 1:
        x *= 1 + 0.5 * np.sign(np.sin(2 * np.pi * 11 * t))
    elif k == 2:
        x += 0.25 * np.sin(2 * np.pi * 2 * f0 * t)
    elif k == 3:
        x += 0.3 * rs.randn(t.size) * (np.sin(2 * np.pi * 37 * t) > 0.9)
    return (x + 0.1 * rs.randn(t.size)).astype(np.float32)


labels = np.arange(N_CLIPS) % len(FAULTS)
clips = np.stack([synth_clip(k) for k in labels])
print("recordings:", clips.shape)

MEL = tf.signal.linear_to_mel_weight_matrix(N_MELS, FRAME // 2 + 1, SR, 40.0, 7600.0)


def augment(wave):
    gain = tf.random.uniform([], 0.6, 1.4)
    noise = tf.random.normal(tf.shape(wave), stddev=0.03)
    return wave * gain + noise


def log_mel(wave):
    spec = tf.abs(tf.signal.stft(wave, FRAME, HOP))
    return tf.math.log(tf.matmul(spec, MEL) + 1e-4)


def prepare(wave, y):
    feat = log_mel(augment(wave))
    start = tf.random.uniform([], 0, tf.shape(feat)[0] - CTX, dtype=tf.int32)
    feat = feat[start : start + CTX]
    feat = (feat - tf.reduce_mean(feat)) / (tf.math.reduce_std(feat) + 1e-5)
    feat.set_shape([CTX, N_MELS])
    return feat[..., None], y


class WhineNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.body = tf.keras.Sequential(
            [
                tf.keras.layers.Conv2D(16, 5, strides=2, activation="relu"),
                tf.keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
                tf.keras.layers.Conv2D(48, 3, activation="relu"),
                tf.keras.layers.GlobalAveragePooling2D(),
                tf.keras.layers.Dropout(0.2),
                tf.keras.layers.Dense(len(FAULTS)),
            ]
        )
        self.loss_m = tf.keras.metrics.Mean(name="loss")
        self.acc_m = tf.keras.metrics.SparseCategoricalAccuracy(name="acc")

    @property
    def metrics(self):
        return [self.loss_m, self.acc_m]

    def call(self, x, training=False):
        return self.body(x, training=training)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            out = self(x, training=True)
            smooth = tf.one_hot(y, len(FAULTS)) * 0.9 + 0.1 / len(FAULTS)
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(smooth, out))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_m.update_state(loss)
        self.acc_m.update_state(y, out)
        return {m.name: m.result() for m in self.metrics}


ds = (
    tf.data.Dataset.from_tensor_slices((clips, labels.astype(np.int32)))
    .shuffle(N_CLIPS)
    .repeat()
    .map(prepare, num_parallel_calls=tf.data.AUTOTUNE)
    .batch(24)
    .prefetch(tf.data.AUTOTUNE)
)

net = WhineNet()
net.compile(optimizer=tf.keras.optimizers.Adam(1e-3))
t0 = time.time()
for rnd in range(9):
    h = net.fit(ds, steps_per_epoch=30, epochs=1, verbose=0)
    print(
        "round %d  loss %.3f  acc %.3f  (%.1fs)"
        % (rnd, h.history["loss"][0], h.history["acc"][0], time.time() - t0),
        flush=True,
    )
