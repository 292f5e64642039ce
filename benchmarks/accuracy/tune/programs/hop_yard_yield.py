"""Hop yield from yard records: embeddings + cross layers under tf.distribute.

Written for the department's multi-GPU box; here it runs on whatever single
device is present.
"""

import os
import tempfile
import time

import numpy as np
import tensorflow as tf

CARDINALITY = {"cultivar": 40, "trellis": 6, "soil": 15, "district": 60}
NUMERIC = 18
GLOBAL_BATCH = 512
EPOCHS = 12


def yards(n, seed):
    rng = np.random.default_rng(seed)
    effect = np.random.default_rng(99)
    cats = {k: rng.integers(0, c, n).astype("int32") for k, c in CARDINALITY.items()}
    num = rng.normal(0, 1, (n, NUMERIC)).astype("float32")
    y = np.zeros(n)
    for k, c in CARDINALITY.items():
        y += effect.normal(0, 0.7, c)[cats[k]]
    y += 0.8 * num[:, 0] * num[:, 1] - 0.5 * np.maximum(num[:, 2], 0) ** 2 + np.sin(2 * num[:, 3])
    y += 0.6 * num[:, 4] * effect.normal(0, 1, CARDINALITY["cultivar"])[cats["cultivar"]]
    y += rng.normal(0, 0.3, n)
    return {**cats, "num": num}, y.astype("float32")


class Cross(tf.keras.layers.Layer):
    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], shape[-1]), name="w")
        self.b = self.add_weight(shape=(shape[-1],), initializer="zeros", name="b")

    def call(self, inputs):
        x0, x = inputs
        return x0 * (tf.matmul(x, self.w) + self.b) + x


class CrossB(Cross):
    def build(self, shapes):
        super().build(shapes[0])


def build():
    k = tf.keras
    inputs = {n: k.Input((), dtype="int32", name=n) for n in CARDINALITY}
    inputs["num"] = k.Input((NUMERIC,), name="num")
    parts = [k.layers.Embedding(c, 12)(inputs[n]) for n, c in CARDINALITY.items()]
    x0 = k.layers.Concatenate()(parts + [inputs["num"]])
    x = x0
    for _ in range(3):
        x = CrossB()([x0, x])
    deep = k.layers.Dense(256, activation="relu")(x0)
    deep = k.layers.Dense(256, activation="relu")(deep)
    deep = k.layers.Dense(128, activation="relu")(deep)
    return k.Model(inputs, k.layers.Dense(1)(k.layers.Concatenate()([x, deep])))


def main():
    tf.keras.utils.set_random_seed(17)
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    train, val = yards(61_440, 0), yards(8_192, 1)
    ds = (
        tf.data.Dataset.from_tensor_slices(train)
        .shuffle(61_440)
        .batch(GLOBAL_BATCH, drop_remainder=True)
        .prefetch(2)
    )
    vds = tf.data.Dataset.from_tensor_slices(val).batch(2048).cache()
    ds, vds = (
        strategy.experimental_distribute_dataset(ds),
        strategy.experimental_distribute_dataset(vds),
    )

    with strategy.scope():
        model = build()
        opt = tf.keras.optimizers.Adam(
            tf.keras.optimizers.schedules.PiecewiseConstantDecay([700, 1100], [2e-3, 6e-4, 2e-4])
        )
        opt.build(model.trainable_variables)
        mse = tf.keras.metrics.MeanSquaredError()
    ckpt = tf.train.Checkpoint(model=model, optimizer=opt)

    def replica_step(batch):
        x, y = batch
        with tf.GradientTape() as tape:
            err = tf.square(model(x, training=True)[:, 0] - y)
            loss = tf.nn.compute_average_loss(err, global_batch_size=GLOBAL_BATCH)
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    @tf.function
    def train_step(batch):
        return strategy.reduce(
            tf.distribute.ReduceOp.SUM, strategy.run(replica_step, (batch,)), axis=None
        )

    @tf.function
    def eval_step(batch):
        def one(b):
            mse.update_state(b[1], model(b[0], training=False)[:, 0])

        strategy.run(one, (batch,))

    with tempfile.TemporaryDirectory() as folder:
        manager = tf.train.CheckpointManager(ckpt, os.path.join(folder, "hops"), max_to_keep=2)
        for epoch in range(1, EPOCHS + 1):
            begin, losses = time.time(), []
            for batch in ds:
                losses.append(train_step(batch))
            mse.reset_state()
            for batch in vds:
                eval_step(batch)
            if epoch % 3 == 0:
                manager.save()
            print(
                f"epoch {epoch}  train mse {np.mean([float(l) for l in losses]):.4f}  "
                f"val rmse {float(mse.result()) ** 0.5:.4f}  {time.time() - begin:.1f}s"
            )


if __name__ == "__main__":
    main()
