#!/usr/bin/env python3
import time
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(21)
strategy = tf.distribute.MirroredStrategy(["CPU:0"])
print("replicas in sync:", strategy.num_replicas_in_sync)

GLOBAL_BATCH = 64 * strategy.num_replicas_in_sync
SIZE, CLASSES = 32, 6
PHASES = [
    # name, epochs, lr, blocks that get trained
    ("source", 2, 1e-3, 3),
    ("head", 4, 2e-3, 0),
    ("last block", 3, 5e-4, 1),
    ("everything", 2, 2e-4, 3),
]


def textures(n, shift, seed):
    r = np.random.default_rng(seed)
    y = r.integers(0, CLASSES, n)
    g = np.arange(SIZE) / SIZE
    ang = (y * np.pi / CLASSES + r.normal(0, 0.06, n))[:, None, None]
    f = r.uniform(3, 6, n)[:, None, None]
    w = np.sin(2 * np.pi * f * (g[None, :, None] * np.cos(ang) + g[None, None, :] * np.sin(ang)))
    x = np.stack([w, w * (1 - shift), shift - w], -1) + r.normal(0, 0.5, (n, SIZE, SIZE, 3))
    return x.astype("float32"), y.astype("int64")


def make_ds(x, y, train):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if train:
        ds = ds.shuffle(len(x))
    ds = ds.batch(GLOBAL_BATCH, drop_remainder=train)
    if train:
        ds = ds.map(lambda a, b: (a * tf.random.uniform([], 0.8, 1.2), b))
    return strategy.experimental_distribute_dataset(ds.prefetch(tf.data.AUTOTUNE))


def block(ch):
    L = tf.keras.layers
    return tf.keras.Sequential(
        [
            L.Conv2D(ch, 3, padding="same", use_bias=False),
            L.LayerNormalization(),
            L.ReLU(),
            L.Conv2D(ch, 3, strides=2, padding="same", use_bias=False),
            L.LayerNormalization(),
            L.ReLU(),
        ]
    )


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.stem = [block(16), block(32), block(48)]
        self.pool = tf.keras.layers.GlobalAveragePooling2D()
        self.fc = tf.keras.layers.Dense(CLASSES)

    def call(self, x):
        for b in self.stem:
            x = b(x)
        return self.fc(self.pool(x))


with strategy.scope():
    net = Net()
    net(tf.zeros((1, SIZE, SIZE, 3)))
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    train_acc = tf.keras.metrics.SparseCategoricalAccuracy()
    val_acc = tf.keras.metrics.SparseCategoricalAccuracy()


def make_phase(lr, n_blocks):
    for i, b in enumerate(net.stem):
        b.trainable = i >= len(net.stem) - n_blocks
    with strategy.scope():
        opt = tf.keras.optimizers.Adam(lr)
        opt.build(net.trainable_variables)

    def replica_step(x, y):
        with tf.GradientTape() as tape:
            logits = net(x, training=True)
            loss = tf.nn.compute_average_loss(loss_fn(y, logits), global_batch_size=GLOBAL_BATCH)
        v = net.trainable_variables
        opt.apply_gradients(zip(tape.gradient(loss, v), v))
        train_acc.update_state(y, logits)
        return loss

    @tf.function
    def step(batch):
        per = strategy.run(replica_step, args=batch)
        return strategy.reduce(tf.distribute.ReduceOp.SUM, per, axis=None)

    return step


@tf.function
def val_step(batch):
    def fn(x, y):
        val_acc.update_state(y, net(x, training=False))

    strategy.run(fn, args=batch)


def main():
    src = make_ds(*textures(1600, 0.0, 1), True)
    dst = make_ds(*textures(1600, 0.7, 2), True)
    val = make_ds(*textures(256, 0.7, 3), False)
    start = time.time()
    for name, epochs, lr, blocks in PHASES:
        step = make_phase(lr, blocks)
        print(f"== phase '{name}', trainable tensors: {len(net.trainable_variables)}")
        for e in range(epochs):
            train_acc.reset_state()
            val_acc.reset_state()
            t0, tot, n = time.time(), 0.0, 0
            for batch in src if name == "source" else dst:
                tot += float(step(batch))
                n += 1
            for batch in val:
                val_step(batch)
            print(
                f"  epoch {e + 1}: loss {tot / n:.4f} acc {float(train_acc.result()):.3f} "
                f"val {float(val_acc.result()):.3f} {1000 * (time.time() - t0) / n:.0f} ms/step"
            )
    print(f"total {time.time() - start:.1f}s")


if __name__ == "__main__":
    main()
