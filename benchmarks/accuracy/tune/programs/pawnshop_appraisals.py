"""Appraise pawned goods. The learning rate stays; the batch grows instead."""

import argparse
import tempfile

import numpy as np
import tensorflow as tf

CARDS = {"category": 60, "brand": 900, "shop": 120, "metal": 9, "month": 12}
NUMERIC = 14


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--rows", type=int, default=98304)
    p.add_argument("--dim", type=int, default=24)
    p.add_argument("--cross", type=int, default=3)
    p.add_argument("--width", type=int, default=384)
    p.add_argument("--plan", default="256,512,1024,2048,4096")
    p.add_argument("--logdir", default=None)
    return p.parse_args()


def ledger(n, seed):
    rng = np.random.default_rng(seed)
    cats = np.stack(
        [np.minimum((rng.pareto(1.3, n) * c / 6).astype(int), c - 1) for c in CARDS.values()], 1
    ).astype("int32")
    world = np.random.default_rng(99)
    nums = rng.normal(size=(n, NUMERIC)).astype("float32")
    value = sum(world.normal(0, 0.5, c)[cats[:, i]] for i, c in enumerate(CARDS.values()))
    value = value + np.tanh(nums @ world.normal(0, 0.4, NUMERIC)) * (1 + 0.2 * cats[:, 3])
    return cats, nums, (value + rng.normal(0, 0.2, n)).astype("float32")


class Cross(tf.keras.layers.Layer):
    def build(self, shape):
        self.proj = tf.keras.layers.Dense(shape[-1])

    def call(self, x0, x):
        return x0 * self.proj(x) + x


class Appraiser(tf.keras.Model):
    def __init__(self, args):
        super().__init__()
        self.tables = [tf.keras.layers.Embedding(c, args.dim) for c in CARDS.values()]
        self.crosses = [Cross() for _ in range(args.cross)]
        self.deep = [tf.keras.layers.Dense(args.width, activation="relu") for _ in range(3)]
        self.out = tf.keras.layers.Dense(1)

    def call(self, cats, nums):
        x0 = tf.concat([t(cats[:, i]) for i, t in enumerate(self.tables)] + [nums], 1)
        x = x0
        for cross in self.crosses:
            x = cross(x0, x)
        d = x0
        for layer in self.deep:
            d = layer(d)
        return self.out(tf.concat([x, d], 1))[:, 0]


def main():
    args = parse()
    tf.keras.utils.set_random_seed(77)
    data = [tf.constant(a) for a in ledger(args.rows, 0)]
    cats_v, nums_v, y_v = [tf.constant(a) for a in ledger(8192, 1)]
    model = Appraiser(args)
    opt = tf.keras.optimizers.Adam(1e-3)
    writer = tf.summary.create_file_writer(args.logdir or tempfile.mkdtemp(prefix="pawn_"))

    @tf.function(reduce_retracing=True)
    def learn(rows):
        cats, nums, y = [tf.gather(a, rows) for a in data]
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(cats, nums) - y) ** 2)
        opt.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        )
        return loss

    @tf.function
    def appraise():
        return tf.sqrt(tf.reduce_mean((model(cats_v, nums_v) - y_v) ** 2))

    step = 0
    with writer.as_default():
        for epoch, size in enumerate(int(s) for s in args.plan.split(",")):
            for _ in range(2):
                order = tf.random.shuffle(tf.range(args.rows))
                for rows in tf.reshape(order, [-1, size]):
                    loss = learn(rows)
                    step += 1
                    if step % 25 == 0:
                        tf.summary.scalar("mse", loss, step=step)
            rmse = float(appraise())
            tf.summary.scalar("held_out_rmse", rmse, step=step)
            for table, name in zip(model.tables, CARDS):
                tf.summary.histogram(f"table/{name}", table.embeddings, step=step)
            print(f"phase {epoch} batch {size} step {step} last {float(loss):.4f} rmse {rmse:.4f}")


if __name__ == "__main__":
    main()
