"""Tide forecasts with a small WaveNet; a page with the curves can be opened while it trains."""

import html
import os
import sys
import time

import numpy as np
import tensorflow as tf


class Page:
    """An HTML page with one line per curve, without any plotting library."""

    def __init__(self, path, title):
        self.path, self.title = path, title
        self.curves = {}
        self.began = time.time()

    def point(self, **values):
        for name, value in values.items():
            self.curves.setdefault(name, []).append(value)
        self.draw()

    def draw(self):
        parts = [f"<h1>{html.escape(self.title)}</h1><p>{time.time() - self.began:.0f} s</p>"]
        for name, values in self.curves.items():
            top, bottom = max(values), min(values)
            spread = (top - bottom) or 1.0
            corners = " ".join(
                f"{600 * k / len(values):.1f},{200 * (top - v) / spread:.1f}"
                for k, v in enumerate(values)
            )
            parts.append(f'<h2>{name}</h2><svg width="600"><polyline points="{corners}"/></svg>')
        with open(self.path + ".new", "w") as f:
            f.write("\n".join(parts))
        os.replace(self.path + ".new", self.path)


def tides(hours):
    t = np.arange(hours)
    level = (
        np.sin(t / 12.42 * 6.283) + 0.4 * np.sin(t / 12 * 6.283) + 0.2 * np.sin(t / 25.8 * 6.283)
    )
    return (level + np.random.default_rng(0).normal(0, 0.05, hours)).astype("float32")


def wavenet(history):
    x = inputs = tf.keras.Input((history, 1))
    for dilation in (1, 2, 4, 8, 16):
        gate = tf.keras.layers.Conv1D(12, 2, dilation_rate=dilation, padding="causal")(x)
        x = tf.keras.layers.Activation("tanh")(gate)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(1)(x[:, -1]))


def main(history=48, updates=1600):
    level = tides(6000)
    net, opt = wavenet(history), tf.keras.optimizers.Nadam(2e-3)
    page = Page("tides.html", "Tides")
    variables = net.trainable_variables

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(net(x)[:, 0] - y))
        grads, norm = tf.clip_by_global_norm(tape.gradient(loss, variables), 1.0)
        opt.apply_gradients(zip(grads, variables))
        return loss, norm

    windows = np.lib.stride_tricks.sliding_window_view(level, history + 1)
    for update in range(updates):
        chosen = windows[np.random.randint(0, len(windows), 32)]
        loss, norm = step(chosen[:, :-1, None], chosen[:, -1])
        page.point(loss=float(loss), gradient=float(norm))
    print("last loss", float(loss))


if __name__ == "__main__":
    sys.exit(main())
