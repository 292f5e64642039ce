"""SimCLR pre-training on multispectral land tiles under a distribution strategy."""

import os
import tempfile
import time

import numpy as np
import tensorflow as tf

BANDS = 6
SIZE = 40
GLOBAL_BATCH = 64
STEPS = 300
CKPT_EVERY = 75
LOG_EVERY = 50
TEMPERATURE = 0.2


def synth_tiles(n, rng):
    """Patchy fields with a spectral signature for each land-cover class."""
    signatures = rng.uniform(0.05, 0.7, (9, BANDS))
    tiles = np.empty((n, SIZE, SIZE, BANDS), "float32")
    dominant = rng.integers(0, 9, n)
    for i in range(n):
        seeds = rng.uniform(0, SIZE, (5, 2))
        kinds = rng.integers(0, 9, 5)
        kinds[:3] = dominant[i]
        yy, xx = np.mgrid[0:SIZE, 0:SIZE]
        d = (yy[..., None] - seeds[:, 0]) ** 2 + (xx[..., None] - seeds[:, 1]) ** 2
        tiles[i] = signatures[kinds[d.argmin(-1)]]
    tiles += rng.normal(0, 0.03, tiles.shape)
    return tiles, dominant


def augment(tile):
    x = tf.image.random_crop(tile, (32, 32, BANDS))
    x = tf.image.random_flip_left_right(x)
    x = tf.image.rot90(x, tf.random.uniform((), 0, 4, tf.int32))
    gain = tf.random.uniform((1, 1, BANDS), 0.8, 1.2)
    return x * gain + tf.random.normal((), stddev=0.03)


def make_dataset(tiles):
    ds = tf.data.Dataset.from_tensor_slices(tiles)
    ds = ds.shuffle(len(tiles)).repeat()
    ds = ds.map(lambda t: (augment(t), augment(t)), num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(GLOBAL_BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


def encoder():
    inputs = tf.keras.Input((32, 32, BANDS))
    x = inputs
    for filters in (32, 64, 128):
        x = tf.keras.layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
        x = tf.keras.layers.BatchNormalization()(x)
        x = tf.keras.layers.ReLU()(x)
        x = tf.keras.layers.MaxPool2D()(x)
    features = tf.keras.layers.GlobalAveragePooling2D(name="features")(x)
    z = tf.keras.layers.Dense(128, activation="relu")(features)
    z = tf.keras.layers.Dense(64)(z)
    return tf.keras.Model(inputs, [features, z])


def nt_xent(za, zb):
    z = tf.math.l2_normalize(tf.concat([za, zb], 0), axis=1)
    n = tf.shape(za)[0]
    logits = tf.matmul(z, z, transpose_b=True) / TEMPERATURE
    logits -= 1e9 * tf.eye(2 * n)
    labels = tf.concat([tf.range(n, 2 * n), tf.range(0, n)], 0)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)


def linear_probe(features, labels):
    half = len(labels) // 2
    a = np.c_[features[:half], np.ones(half)]
    w = np.linalg.lstsq(
        a.T @ a + 1e-2 * np.eye(a.shape[1]), a.T @ np.eye(9)[labels[:half]], rcond=None
    )[0]
    guess = (np.c_[features[half:], np.ones(len(labels) - half)] @ w).argmax(1)
    return (guess == labels[half:]).mean()


def main():
    rng = np.random.default_rng(17)
    tf.keras.utils.set_random_seed(17)
    tiles, dominant = synth_tiles(1500, rng)

    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    print("replicas:", strategy.num_replicas_in_sync)
    with strategy.scope():
        model = encoder()
        schedule = tf.keras.optimizers.schedules.CosineDecay(
            2e-3, STEPS, warmup_target=2e-3, warmup_steps=20
        )
        optimizer = tf.keras.optimizers.Adam(schedule)
        ckpt = tf.train.Checkpoint(model=model, optimizer=optimizer)
    manager = tf.train.CheckpointManager(
        ckpt, os.path.join(tempfile.mkdtemp(), "simclr"), max_to_keep=2
    )
    iterator = iter(strategy.experimental_distribute_dataset(make_dataset(tiles)))

    def replica_step(batch):
        a, b = batch
        with tf.GradientTape() as tape:
            za, zb = model(a, training=True)[1], model(b, training=True)[1]
            loss = tf.nn.compute_average_loss(nt_xent(za, zb), global_batch_size=2 * GLOBAL_BATCH)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    @tf.function
    def train_step(iterator):
        losses = strategy.run(replica_step, args=(next(iterator),))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    window = []
    started = time.time()
    for step in range(1, STEPS + 1):
        window.append(train_step(iterator))
        if step % LOG_EVERY == 0:
            print(
                "step %d  loss %.4f  %.1f s"
                % (step, float(tf.reduce_mean(window)), time.time() - started)
            )
            window = []
        if step % CKPT_EVERY == 0:
            manager.save(checkpoint_number=step)
    print("training took %.1f s" % (time.time() - started))

    feats = model.predict(tiles[:, 4:36, 4:36], batch_size=250, verbose=0)[0]
    print("linear probe accuracy: %.3f" % linear_probe(feats, dominant))


if __name__ == "__main__":
    main()
