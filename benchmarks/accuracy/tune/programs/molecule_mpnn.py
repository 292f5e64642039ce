"""Message passing network for a solubility-like target on random molecular graphs."""

import os
import tempfile
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

MAX_ATOMS = 28
ATOM_TYPES, BOND_TYPES = 9, 4
DIM, ROUNDS = 96, 4
N_TRAIN, N_VAL = 1280, 320
BATCH = 64
EPOCHS = 24


def random_molecule(rng):
    n = int(rng.integers(10, MAX_ATOMS + 1))
    atoms = rng.choice(ATOM_TYPES, n, p=[0.45, 0.2, 0.12, 0.08, 0.05, 0.04, 0.03, 0.02, 0.01])
    bonds = np.zeros((MAX_ATOMS, MAX_ATOMS, BOND_TYPES), "float32")
    for i in range(1, n):
        j = int(rng.integers(max(0, i - 4), i))
        b = int(rng.choice(BOND_TYPES, p=[0.6, 0.2, 0.05, 0.15]))
        bonds[i, j, b] = bonds[j, i, b] = 1.0
    for _ in range(int(rng.integers(0, 4))):
        i, j = rng.integers(0, n, 2)
        if i != j:
            bonds[i, j, 3] = bonds[j, i, 3] = 1.0
    x = np.zeros((MAX_ATOMS, ATOM_TYPES), "float32")
    x[np.arange(n), atoms] = 1.0
    mask = (np.arange(MAX_ATOMS) < n).astype("float32")
    polar = np.array([-0.3, 0.9, 0.7, 0.2, -0.4, -0.5, 0.3, 0.8, 0.1])[atoms].sum()
    rings = bonds[..., 3].sum() / 2
    hetero = sum(bonds[i, :n].sum(-1) @ (atoms == 1) for i in range(n) if atoms[i] == 0)
    y = 0.4 * polar - 0.2 * rings + 0.1 * hetero - 0.03 * n + rng.normal(0, 0.05)
    return x, bonds, mask, np.float32(y)


def make_split(n, seed):
    rng = np.random.default_rng(seed)
    cols = zip(*(random_molecule(rng) for _ in range(n)))
    x, bonds, mask, y = (np.stack(c) for c in cols)
    return (x, bonds, mask), y.astype("float32")


class MPNN(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = keras.layers.Dense(DIM)
        self.edge = [keras.layers.Dense(DIM, use_bias=False) for _ in range(BOND_TYPES)]
        self.update = keras.layers.GRUCell(DIM)
        self.gate = keras.layers.Dense(DIM, activation="sigmoid")
        self.value = keras.layers.Dense(DIM)
        self.head = keras.Sequential(
            [keras.layers.Dense(128, activation="relu"), keras.layers.Dense(1)]
        )
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.mae = keras.metrics.MeanAbsoluteError(name="mae")

    @property
    def metrics(self):
        return [self.loss_tracker, self.mae]

    def call(self, inputs, training=False):
        x, bonds, mask = inputs
        h0 = h = self.embed(x) * mask[..., None]
        for _ in range(ROUNDS):
            msg = tf.add_n(
                [tf.matmul(bonds[..., b], dense(h)) for b, dense in enumerate(self.edge)]
            )
            flat, _ = self.update(tf.reshape(msg, (-1, DIM)), [tf.reshape(h, (-1, DIM))])
            h = tf.reshape(flat, tf.shape(h)) * mask[..., None]
        both = tf.concat([h, h0], -1)
        pooled = tf.reduce_sum(self.gate(both) * self.value(both) * mask[..., None], axis=1)
        return self.head(pooled)[:, 0]

    def train_step(self, data):
        inputs, y = data
        with tf.GradientTape() as tape:
            pred = self(inputs, training=True)
            loss = tf.reduce_mean(keras.losses.huber(y[:, None], pred[:, None]))
        grads = tape.gradient(loss, self.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 2.0)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        self.mae.update_state(y, pred)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        inputs, y = data
        pred = self(inputs, training=False)
        self.loss_tracker.update_state(
            tf.reduce_mean(keras.losses.huber(y[:, None], pred[:, None]))
        )
        self.mae.update_state(y, pred)
        return {m.name: m.result() for m in self.metrics}


class ParityReport(keras.callbacks.Callback):
    """Correlation between prediction and target on the validation molecules."""

    def __init__(self, inputs, target, every=5):
        super().__init__()
        self.inputs, self.target, self.every = inputs, target, every

    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % self.every == 0:
            pred = self.model.predict(self.inputs, batch_size=160, verbose=0)
            print("epoch %d: r = %.3f" % (epoch + 1, np.corrcoef(pred, self.target)[0, 1]))


def main():
    keras.utils.set_random_seed(31)
    train_x, train_y = make_split(N_TRAIN, 0)
    val_x, val_y = make_split(N_VAL, 1)
    mean, std = train_y.mean(), train_y.std()
    train_y, val_y = (train_y - mean) / std, (val_y - mean) / std

    train = tf.data.Dataset.from_tensor_slices((train_x, train_y)).shuffle(N_TRAIN)
    train = train.batch(BATCH, drop_remainder=True).prefetch(2)
    val = tf.data.Dataset.from_tensor_slices((val_x, val_y)).batch(160).prefetch(2)

    logdir = tempfile.mkdtemp(prefix="mpnn_")
    model = MPNN()
    model.compile(optimizer=keras.optimizers.Adam(1e-3))
    started = time.time()
    model.fit(
        train,
        validation_data=val,
        epochs=EPOCHS,
        verbose=2,
        callbacks=[
            keras.callbacks.TensorBoard(logdir, update_freq="epoch", write_graph=False),
            keras.callbacks.CSVLogger(os.path.join(logdir, "log.csv")),
            keras.callbacks.LearningRateScheduler(lambda e, lr: lr * 0.93 if e > 2 else lr),
            ParityReport(val_x, val_y),
        ],
    )
    print("training took %.1f s" % (time.time() - started))


if __name__ == "__main__":
    main()
