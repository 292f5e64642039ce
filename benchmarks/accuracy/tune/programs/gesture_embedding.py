"""Metric learning for accelerometer gestures with cross-batch memory.

Pairs are formed between the current batch and embeddings of former batches
(Wang et al. 2020), because a batch alone holds few pairs per class.
"""

import numpy as np
import tensorflow as tf
from tensorflow.keras import Sequential, layers, optimizers

N_CLASS, T, C, DIM = 40, 48, 3, 64
BATCH, STEPS, WARM = 64, 600, 40


class GestureBank:
    """Forty gesture prototypes, warped in time and amplitude."""

    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)
        t = np.linspace(0, 1, T)
        freq = self.rng.uniform(0.5, 4.0, (N_CLASS, C, 3, 1))
        phase = self.rng.uniform(0, 2 * np.pi, (N_CLASS, C, 3, 1))
        self.protos = np.sin(2 * np.pi * freq * t + phase).sum(2)

    def draw(self, n):
        y = self.rng.integers(0, N_CLASS, n)
        shift = self.rng.integers(-5, 6, n)
        x = self.protos[y]
        pos = (np.arange(T)[None] + shift[:, None]) % T
        x = np.take_along_axis(x, np.broadcast_to(pos[:, None, :], x.shape), axis=2)
        x = x * self.rng.uniform(0.7, 1.3, (n, C, 1)) + 1.5 * self.rng.normal(size=x.shape)
        return x.transpose(0, 2, 1).astype("float32"), y.astype("int32")


class CrossBatchMemory:
    def __init__(self):
        self.keys, self.labels = [], []

    def push(self, keys, labels):
        self.keys.append(keys)
        self.labels.append(labels)

    def read(self):
        return tf.concat(self.keys, 0), tf.concat(self.labels, 0)

    def __len__(self):
        return sum(int(k.shape[0]) for k in self.keys)


def make_encoder():
    return Sequential(
        [
            layers.Input((T, C)),
            layers.Conv1D(48, 5, padding="same", activation="relu"),
            layers.Conv1D(64, 5, strides=2, padding="same", activation="relu"),
            layers.Conv1D(64, 5, strides=2, padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dense(128, activation="relu"),
            layers.Dense(DIM),
            layers.UnitNormalization(),
        ]
    )


def pair_loss(z, y, keys, labels, margin=0.4):
    sim = tf.matmul(z, keys, transpose_b=True)
    same = tf.cast(y[:, None] == labels[None], tf.float32)
    pull = tf.reduce_sum(same * (1.0 - sim), 1) / (tf.reduce_sum(same, 1) + 1.0)
    hard = (1.0 - same) * tf.nn.relu(sim - margin)
    push = tf.reduce_sum(hard, 1) / (tf.reduce_sum(tf.cast(hard > 0, tf.float32), 1) + 1.0)
    return tf.reduce_mean(pull + push)


encoder = make_encoder()
opt = optimizers.Adam(1e-3)


@tf.function(
    input_signature=[
        tf.TensorSpec((BATCH, T, C)),
        tf.TensorSpec((BATCH,), tf.int32),
        tf.TensorSpec((None, DIM)),
        tf.TensorSpec((None,), tf.int32),
    ]
)
def train_step(x, y, keys, labels):
    with tf.GradientTape() as tape:
        z = encoder(x, training=True)
        loss = pair_loss(z, y, z, y)
        if tf.shape(keys)[0] > 0:
            loss += pair_loss(z, y, keys, labels)
    grads = tape.gradient(loss, encoder.trainable_variables)
    opt.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss, z


def recall_at_1(bank, n=1000):
    x, y = bank.draw(n)
    z = encoder(x, training=False).numpy()
    sim = z @ z.T
    np.fill_diagonal(sim, -2)
    return float(np.mean(y[sim.argmax(1)] == y))


def main():
    tf.random.set_seed(0)
    train_bank, memory = GestureBank(), CrossBatchMemory()
    empty = tf.zeros((0, DIM)), tf.zeros((0,), tf.int32)
    print(f"recall@1 before training {recall_at_1(train_bank):.3f}")
    window = []
    for step in range(1, STEPS + 1):
        x, y = train_bank.draw(BATCH)
        keys, labels = memory.read() if step > WARM + 1 else empty
        loss, z = train_step(x, y, keys, labels)
        if step > WARM:
            memory.push(z, y)
        window.append(float(loss))
        if step % 50 == 0:
            print(
                f"[{step:4d}/{STEPS}] loss {np.mean(window):.4f}  memory {len(memory)}", flush=True
            )
            window.clear()
    print(f"recall@1 after training {recall_at_1(train_bank):.3f}")


if __name__ == "__main__":
    main()
