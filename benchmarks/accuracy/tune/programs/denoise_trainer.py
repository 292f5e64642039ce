"""Adversarial denoiser with a small Trainer/hook framework (my thesis code base)."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import shutil
import tempfile

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(17)
L = tf.keras.layers


class Hook:
    def begin(self, tr):
        pass

    def before_step(self, tr):
        pass

    def after_step(self, tr):
        pass

    def end(self, tr):
        pass


class WarmupDecay(Hook):
    def __init__(self, peak, warm, total):
        self.peak, self.warm, self.total = peak, warm, total

    def before_step(self, tr):
        s = tr.step
        lr = (
            self.peak * (s + 1) / self.warm
            if s < self.warm
            else self.peak * (1 - 0.9 * (s - self.warm) / (self.total - self.warm))
        )
        tr.opt_g.learning_rate.assign(lr)


class Console(Hook):
    def __init__(self, every):
        self.every = every

    def after_step(self, tr):
        if tr.step % self.every == 0:
            print(f"[{tr.step:4d}] " + " ".join(f"{k}={float(v):.4f}" for k, v in tr.logs.items()))


class Snapshot(Hook):
    def __init__(self, folder, every, keep=2):
        self.folder, self.every, self.keep = folder, every, keep

    def begin(self, tr):
        ck = tf.train.Checkpoint(gen=tr.gen, disc=tr.disc)
        self.mgr = tf.train.CheckpointManager(ck, self.folder, max_to_keep=self.keep)

    def after_step(self, tr):
        if tr.step % self.every == 0:
            self.mgr.save(tr.step)

    def end(self, tr):
        shutil.rmtree(self.folder, ignore_errors=True)


class PSNR(Hook):
    def __init__(self, noisy, clean, every):
        self.noisy, self.clean, self.every = tf.constant(noisy), tf.constant(clean), every

    def after_step(self, tr):
        if tr.step % self.every == 0:
            out = tr.infer(self.noisy)
            p = tf.reduce_mean(tf.image.psnr(self.clean, tf.clip_by_value(out, 0.0, 1.0), 1.0))
            print(f"       hold-out PSNR {float(p):.2f} dB")


class Trainer:
    def __init__(self, data, hooks, total, critic_per_gen=2):
        self.data, self.hooks, self.total, self.ratio = iter(data), hooks, total, critic_per_gen
        inp = L.Input((48, 48, 1))
        x = L.Conv2D(32, 3, padding="same", activation="relu")(inp)
        for _ in range(3):
            x = L.Add()([x, L.Conv2D(32, 3, padding="same", activation="relu")(x)])
        self.gen = tf.keras.Model(inp, L.Add()([inp, L.Conv2D(1, 3, padding="same")(x)]))
        self.disc = tf.keras.Sequential(
            [
                L.Input((48, 48, 1)),
                L.Conv2D(24, 4, 2, "same"),
                L.LeakyReLU(),
                L.Conv2D(48, 4, 2, "same"),
                L.LeakyReLU(),
                L.Conv2D(96, 4, 2, "same"),
                L.LeakyReLU(),
                L.Flatten(),
                L.Dense(1),
            ]
        )
        self.opt_g, self.opt_d = (
            tf.keras.optimizers.Adam(1e-3, 0.5),
            tf.keras.optimizers.Adam(4e-4, 0.5),
        )
        self.step, self.logs = 0, {}

    @tf.function
    def infer(self, noisy):
        return self.gen(noisy, training=False)

    @tf.function
    def disc_step(self, noisy, clean):
        fake = self.gen(noisy, training=False)
        with tf.GradientTape() as tape:
            real_s, fake_s = self.disc(clean, training=True), self.disc(fake, training=True)
            loss = tf.reduce_mean(tf.nn.relu(1.0 - real_s)) + tf.reduce_mean(
                tf.nn.relu(1.0 + fake_s)
            )
        v = self.disc.trainable_variables
        self.opt_d.apply_gradients(zip(tape.gradient(loss, v), v))
        return loss

    @tf.function
    def gen_step(self, noisy, clean):
        with tf.GradientTape() as tape:
            out = self.gen(noisy, training=True)
            l1 = tf.reduce_mean(tf.abs(out - clean))
            loss = l1 - 0.01 * tf.reduce_mean(self.disc(out, training=False))
        v = self.gen.trainable_variables
        self.opt_g.apply_gradients(zip(tape.gradient(loss, v), v))
        return l1

    def fit(self):
        for h in self.hooks:
            h.begin(self)
        while self.step < self.total:
            for h in self.hooks:
                h.before_step(self)
            noisy, clean = next(self.data)
            # the critic joins after the first 100 steps, then 2 critic : 1 generator
            if self.step >= 100 and self.step % (self.ratio + 1):
                self.logs["disc"] = self.disc_step(noisy, clean)
            else:
                self.logs["l1"] = self.gen_step(noisy, clean)
            self.step += 1
            for h in self.hooks:
                h.after_step(self)
        for h in self.hooks:
            h.end(self)


def textures(n, seed):
    r = np.random.default_rng(seed)
    g = np.arange(48) / 48
    f, a, p = r.uniform(2, 9, (n, 1, 1)), r.uniform(0, np.pi, (n, 1, 1)), r.uniform(0, 6, (n, 1, 1))
    x = 0.5 + 0.4 * np.sin(
        2 * np.pi * f * (np.cos(a) * g[None, :, None] + np.sin(a) * g[None, None, :]) + p
    )
    return x[..., None].astype(np.float32)


def main():
    total = 640
    clean = textures(1500, 0)
    ds = tf.data.Dataset.from_tensor_slices(clean).shuffle(1500).repeat().batch(24)
    ds = ds.map(lambda c: (c + tf.random.normal(tf.shape(c), stddev=0.2), c)).prefetch(2)
    hc = textures(48, 1)
    hn = hc + np.random.default_rng(2).normal(0, 0.2, hc.shape).astype(np.float32)
    hooks = [
        WarmupDecay(1e-3, 60, total),
        Console(40),
        PSNR(hn, hc, 160),
        Snapshot(tempfile.mkdtemp(prefix="denoise_"), 210),
    ]
    Trainer(ds, hooks, total).fit()


if __name__ == "__main__":
    main()
