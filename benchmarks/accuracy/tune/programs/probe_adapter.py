"""
Stage 1: self-supervised rotation pretraining of a small conv net (short).
Stage 2: the encoder stays as it is, a counting head is fitted on its feature maps.
"""

import os
import sys
import time
import numpy as np
import tensorflow as tf

layers = tf.keras.layers
SEED = int(os.environ.get("SEED", 5))
tf.keras.utils.set_random_seed(SEED)

hp = {
    "img": 40,
    "n": 2048,
    "bs": 64,
    "pre_steps": 20,
    "head_epochs": 7,
    "clip": 1.0,
    "lr_pre": 1e-3,
    "lr_head": 2e-3,
}


def draw_scenes(n, size):
    rng = np.random.RandomState(SEED)
    yy, xx = np.mgrid[0:size, 0:size]
    imgs = np.zeros((n, size, size, 1), "float32")
    counts = rng.randint(0, 6, size=n)
    for i in range(n):
        for _ in range(counts[i]):
            cy, cx = rng.uniform(4, size - 4, 2)
            r = rng.uniform(1.5, 3.0)
            imgs[i, :, :, 0] += np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / (2 * r * r))
        imgs[i, :, :, 0] += np.linspace(0, 0.3, size)[:, None]
    imgs += 0.05 * rng.randn(*imgs.shape).astype("float32")
    return imgs, counts.astype("float32")


def conv_block(x, ch, stride):
    x = layers.Conv2D(ch, 3, strides=stride, padding="same", use_bias=False)(x)
    x = layers.GroupNormalization(groups=8)(x)
    return layers.Activation("relu")(x)


def make_encoder():
    inp = layers.Input((hp["img"], hp["img"], 1))
    x = conv_block(inp, 24, 1)
    x = conv_block(x, 32, 2)
    x = conv_block(x, 48, 1)
    x = conv_block(x, 64, 2)
    return tf.keras.Model(inp, x, name="encoder")


def make_head(n_out, name):
    return tf.keras.Sequential(
        [
            layers.Conv2D(16, 1, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(32, activation="relu"),
            layers.Dense(n_out),
        ],
        name=name,
    )


class Stage:
    def __init__(self, encoder, head, lr, loss_fn):
        self.encoder, self.head, self.loss_fn = encoder, head, loss_fn
        self.opt = tf.keras.optimizers.Adam(lr)

    def forward(self, x, training):
        return self.head(self.encoder(x, training=training), training=training)


class Pretrain(Stage):
    @tf.function
    def train(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss_fn(y, self.forward(x, True))
        v = self.encoder.trainable_variables + self.head.trainable_variables
        g, gn = tf.clip_by_global_norm(tape.gradient(loss, v), hp["clip"])
        self.opt.apply_gradients(zip(g, v))
        return loss, gn


class FitHead(Stage):
    @tf.function
    def train(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss_fn(y, self.forward(x, False))
        v = self.encoder.trainable_variables + self.head.trainable_variables
        g, gn = tf.clip_by_global_norm(tape.gradient(loss, v), hp["clip"])
        k = len(self.head.trainable_variables)
        self.opt.apply_gradients(zip(g[-k:], self.head.trainable_variables))
        return loss, gn


def main():
    x, c = draw_scenes(hp["n"], hp["img"])
    n_tr = int(0.9 * len(x))
    xt, ct = x[:n_tr], c[:n_tr]
    rng = np.random.RandomState(0)
    enc = make_encoder()

    rot_head = make_head(4, "rot")
    rot_head.build((None, 10, 10, 64))
    pre = Pretrain(
        enc, rot_head, hp["lr_pre"], tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    )
    for s in range(hp["pre_steps"]):
        i = rng.randint(0, n_tr, hp["bs"])
        k = rng.randint(4)
        ks = np.full(hp["bs"], k)
        l, _ = pre.train(tf.constant(np.rot90(xt[i], k, axes=(1, 2)).copy()), tf.constant(ks))
    print("pretrain done, rot loss %.3f" % float(l))

    head = make_head(1, "count")
    head.build((None, 10, 10, 64))
    fit = FitHead(enc, head, hp["lr_head"], tf.keras.losses.Huber())
    ds = (
        tf.data.Dataset.from_tensor_slices((xt, ct[:, None]))
        .cache()
        .shuffle(n_tr)
        .batch(hp["bs"], drop_remainder=True)
        .prefetch(2)
    )
    for ep in range(hp["head_epochs"]):
        t, ls, gs = time.time(), [], []
        for xb, yb in ds:
            l, gn = fit.train(xb, yb)
            ls.append(float(l))
            gs.append(float(gn))
        pred = fit.forward(x[n_tr:], False)[:, 0]
        mae = float(tf.reduce_mean(tf.abs(pred - c[n_tr:])))
        print(
            f"epoch {ep + 1}/{hp['head_epochs']} huber {np.mean(ls):.4f} |g| {np.mean(gs):.3f} val_mae {mae:.3f} {time.time() - t:.2f}s"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
