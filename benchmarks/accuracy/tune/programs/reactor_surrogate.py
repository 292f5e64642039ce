"""Surrogate for the reactor thermal solver: (control inputs) -> (temperature field)."""

import os
import tempfile
import time

import numpy as np
import tensorflow as tf

tf.random.set_seed(1)
rng = np.random.default_rng(1)
workdir = tempfile.mkdtemp(prefix="surrogate_")

N_IN, N_OUT = 24, 400
BATCH = 256
EPOCHS = 6
N = 32768

# "solver" output
grid = np.linspace(0, 1, N_OUT, dtype=np.float32)
modes = np.stack([np.sin((k + 1) * np.pi * grid) for k in range(N_IN)])
X = rng.normal(size=(N, N_IN)).astype(np.float32)
A = rng.normal(size=(N_IN, N_IN)).astype(np.float32) / np.sqrt(N_IN)
Y = (np.tanh(X @ A) * (1 + 0.5 * np.roll(X, 1, axis=1))) @ modes
Y = (Y / Y.std()).astype(np.float32)
Xv, Yv = X[-2048:], Y[-2048:]
X, Y = X[:-2048], Y[:-2048]


class Block(tf.keras.layers.Layer):
    def __init__(self, width):
        super().__init__()
        self.norm = tf.keras.layers.LayerNormalization()
        self.d1 = tf.keras.layers.Dense(width, activation="gelu")
        self.d2 = tf.keras.layers.Dense(width)

    def call(self, x):
        return x + self.d2(self.d1(self.norm(x)))


class Surrogate(tf.keras.Model):
    def __init__(self, width=448, depth=3):
        super().__init__()
        self.lift = tf.keras.layers.Dense(width)
        self.blocks = [Block(width) for _ in range(depth)]
        self.head = tf.keras.layers.Dense(N_OUT)

    def call(self, x):
        x = self.lift(x)
        for b in self.blocks:
            x = b(x)
        return self.head(x)


model = Surrogate()
model(X[:2])
opt = tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(1e-3, 700))
opt.build(model.trainable_variables)
ckpt = tf.train.Checkpoint(model=model, optimizer=opt)
manager = tf.train.CheckpointManager(ckpt, os.path.join(workdir, "best"), max_to_keep=3)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        err = model(x) - y
        loss = tf.reduce_mean(err * err)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


@tf.function
def val_loss():
    return tf.reduce_mean((model(Xv) - Yv) ** 2)


ds = (
    tf.data.Dataset.from_tensor_slices((X, Y))
    .shuffle(len(X), seed=2)
    .batch(BATCH, drop_remainder=True)
    .prefetch(2)
)

best = np.inf
avg = None
start = time.time()
for epoch in range(EPOCHS):
    for x, y in ds:
        loss = float(train_step(x, y))
        avg = loss if avg is None else 0.97 * avg + 0.03 * loss
        if avg < best:
            best = avg
            manager.save()
    print(
        f"epoch {epoch}: train {avg:.4f}  val {float(val_loss()):.4f}  best {best:.4f}  {time.time() - start:.1f}s"
    )

ckpt.restore(manager.latest_checkpoint).expect_partial()
print("restored best, val", float(val_loss()))
