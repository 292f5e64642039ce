"""Dating of pottery sherds from small rim photographs.

Stage one trains the whole network on coarse periods (5 classes), stage two
keeps the trunk as it is and learns the fine ware classes (12) on top of it.
"""

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--n", type=int, default=640)
    p.add_argument("--batch", type=int, default=48)
    p.add_argument("--coarse_steps", type=int, default=40)
    p.add_argument("--fine_steps", type=int, default=300)
    p.add_argument("--seed", type=int, default=12)
    return p.parse_args()


def make_sherds(n, rng):
    ware = rng.integers(0, 12, n)
    yy, xx = np.mgrid[0:48, 0:48] / 48.0
    imgs = np.empty((n, 48, 48, 3), np.float32)
    for i, w in enumerate(ware):
        ang = np.pi * w / 12 + rng.normal(0, 0.05)
        stripes = np.sin(2 * np.pi * (3 + w % 4) * (xx * np.cos(ang) + yy * np.sin(ang)))
        tint = np.array([0.7, 0.4 + 0.03 * w, 0.25])
        imgs[i] = stripes[..., None] * tint + rng.normal(0, 0.6, (48, 48, 3))
    period = ware // 3 + (rng.random(n) < 0.05)
    return imgs, period.astype(np.int32), ware.astype(np.int32)


class Trunk(tf.keras.Model):
    def __init__(self):
        super().__init__()
        conv = lambda f, s: tf.keras.layers.Conv2D(
            f, 3, strides=s, padding="same", activation="relu"
        )
        self.blocks = [conv(24, 1), conv(32, 2), conv(48, 1), conv(64, 2), conv(64, 1)]
        self.pool = tf.keras.layers.GlobalAveragePooling2D()

    def call(self, x):
        for b in self.blocks:
            x = b(x)
        return self.pool(x)


class SherdNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        self.period = tf.keras.layers.Dense(5)
        self.ware_hidden = tf.keras.layers.Dense(96, activation="relu")
        self.ware = tf.keras.layers.Dense(12)

    def call(self, x):
        h = self.trunk(x)
        return self.period(h), self.ware(self.ware_hidden(h))


class Trainer:
    def __init__(self, net):
        self.net = net
        self.opt = tf.keras.optimizers.Adam(2e-3)
        self.trunk_scale = tf.Variable(1.0, trainable=False)
        self.fine_weight = tf.Variable(0.0, trainable=False)
        self.opt.build(net.trainable_variables)

    @tf.function
    def step(self, x, period, ware):
        with tf.GradientTape() as tape:
            lp, lw = self.net(x)
            coarse = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(period, lp))
            fine = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(ware, lw))
            loss = (1.0 - self.fine_weight) * coarse + self.fine_weight * fine
        variables = self.net.trainable_variables
        grads = tape.gradient(loss, variables)
        n_trunk = len(self.net.trunk.trainable_variables)
        grads = [g * self.trunk_scale if i < n_trunk else g for i, g in enumerate(grads)]
        self.opt.apply_gradients(zip(grads, variables))
        acc = tf.reduce_mean(tf.cast(tf.argmax(lw, 1, tf.int32) == ware, tf.float32))
        return loss, acc

    def start_fine_stage(self):
        # new optimizer, so that old momentum does not move the trunk
        self.opt = tf.keras.optimizers.Adam(2e-3)
        self.opt.build(self.net.trainable_variables)
        self.trunk_scale.assign(0.0)
        self.fine_weight.assign(1.0)
        self.step = tf.function(self.step.python_function)


def run_stage(name, trainer, data, steps, batch, rng):
    imgs, period, ware = data
    for s in range(steps):
        idx = rng.integers(0, len(imgs), batch)
        loss, acc = trainer.step(imgs[idx], period[idx], ware[idx])
        if s % 25 == 0 or s == steps - 1:
            print(f"{name} {s:4d} loss {float(loss):.3f} ware acc {float(acc):.2f}")


def main():
    args = parse()
    tf.keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    data = make_sherds(args.n, rng)
    net = SherdNet()
    net(tf.zeros((1, 48, 48, 3)))
    trainer = Trainer(net)
    run_stage("coarse", trainer, data, args.coarse_steps, args.batch, rng)
    trainer.start_fine_stage()
    run_stage("fine", trainer, data, args.fine_steps, args.batch, rng)


if __name__ == "__main__":
    main()
