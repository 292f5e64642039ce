"""Mask-based speech enhancement for a hearing aid, simulated harmonic voices."""

import time

import numpy as np
import tensorflow as tf

BINS = 96
CONFIG = {"batch": 16, "fixed_steps": 180, "free_steps": 24, "fixed_frames": 128, "width": 128}


def synth(rng, n, frames):
    """Magnitude spectra of voices (harmonic combs) and of babble."""
    t = np.arange(frames)[None, :, None]
    k = np.arange(BINS)[None, None, :]
    pitch = rng.uniform(5, 14, (n, 1, 1)) * (
        1 + 0.1 * np.sin(t * rng.uniform(0.02, 0.2, (n, 1, 1)))
    )
    comb = np.cos(np.pi * k / pitch) ** 8 * np.exp(-k / 40)
    envelope = np.maximum(0, np.sin(t * rng.uniform(0.05, 0.3, (n, 1, 1))))
    voice = comb * envelope
    noise = rng.gamma(1.0, 0.12, (n, frames, BINS))
    return (voice + noise).astype("float32"), voice.astype("float32")


class Crops:
    """First crops of one length, then, for robustness, whatever the utterance gives."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def fixed(self):
        return synth(self.rng, CONFIG["batch"], CONFIG["fixed_frames"])

    def utterance(self):
        frames = int(self.rng.integers(80, 200))
        return synth(self.rng, CONFIG["batch"], frames)


class Conv(tf.Module):
    def __init__(self, cin, cout, width, dilation=1, name=None):
        super().__init__(name=name)
        self.dilation = dilation
        self.w = tf.Variable(tf.random.normal([width, cin, cout]) * (2.0 / (width * cin)) ** 0.5)
        self.b = tf.Variable(tf.zeros([cout]))

    def __call__(self, x):
        return tf.nn.conv1d(x, self.w, 1, "SAME", dilations=self.dilation) + self.b


class Enhancer(tf.Module):
    def __init__(self, width, name=None):
        super().__init__(name=name)
        self.inp = Conv(BINS, width, 1)
        self.mid = [Conv(width, width, 3) for _ in range(5)]
        self.out = Conv(width, BINS, 1)

    def __call__(self, x):
        h = tf.nn.relu(self.inp(tf.math.log1p(x)))
        for conv in self.mid:
            h = h + tf.nn.relu(conv(h))
        return x * tf.sigmoid(self.out(h))


class Trainer:
    def __init__(self):
        self.net = Enhancer(CONFIG["width"])
        self.params = self.net.trainable_variables
        self.velocity = [tf.Variable(tf.zeros_like(p), trainable=False) for p in self.params]
        self.lr = tf.Variable(0.02, trainable=False)

    @tf.function(
        jit_compile=True,
        input_signature=[tf.TensorSpec([None, None, BINS]), tf.TensorSpec([None, None, BINS])],
    )
    def step(self, noisy, clean):
        with tf.GradientTape() as tape:
            est = self.net(noisy)
            loss = tf.reduce_mean((tf.sqrt(est + 1e-4) - tf.sqrt(clean + 1e-4)) ** 2)
        for p, v, g in zip(self.params, self.velocity, tape.gradient(loss, self.params)):
            v.assign(0.9 * v + g)
            p.assign_sub(self.lr * v)
        return loss

    def phase(self, name, draw, steps):
        for i in range(steps):
            noisy, clean = draw()
            loss = self.step(tf.constant(noisy), tf.constant(clean))
            if i % 10 == 0:
                print(f"{name} {i:3d} frames {noisy.shape[1]:3d} loss {float(loss):.5f}")


if __name__ == "__main__":
    tf.random.set_seed(9)
    crops = Crops(9)
    trainer = Trainer()
    t0 = time.time()
    trainer.phase("fixed", crops.fixed, CONFIG["fixed_steps"])
    trainer.lr.assign(0.005)
    trainer.phase("free", crops.utterance, CONFIG["free_steps"])
    print("train wall", round(time.time() - t0, 2))
