"""Road segmentation on simulated aerial tiles with an own loader."""

import queue
import threading
import time

import numpy as np
import tensorflow as tf

SIZE = 96
BATCH = 12


class TileLoader:
    """Two threads cut tiles from a big simulated map and keep six batches ready."""

    def __init__(self, workers=2, depth=6):
        rng = np.random.default_rng(0)
        side = 1024
        yy, xx = np.mgrid[:side, :side]
        mask = np.zeros((side, side), bool)
        for _ in range(60):
            a, off, w = rng.uniform(0, np.pi), rng.uniform(-side, side), rng.uniform(2, 6)
            mask |= np.abs(xx * np.cos(a) + yy * np.sin(a) - off) < w
        ground = rng.normal(0.4, 0.1, (side, side, 3))
        ground[mask] = 0.6 + rng.normal(0, 0.05, (mask.sum(), 3))
        self.ground, self.mask = ground.astype("float32"), mask.astype("float32")
        self.ready = queue.Queue(depth)
        self.stop = threading.Event()
        self.threads = [
            threading.Thread(target=self.work, args=(k,), daemon=True) for k in range(workers)
        ]

    def cut(self, rng):
        r, c = rng.integers(0, 1024 - SIZE, (2, BATCH))
        img = np.stack([self.ground[i : i + SIZE, j : j + SIZE] for i, j in zip(r, c)])
        msk = np.stack([self.mask[i : i + SIZE, j : j + SIZE] for i, j in zip(r, c)])
        return img, msk[..., None]

    def work(self, seed):
        rng = np.random.default_rng(seed)
        while not self.stop.is_set():
            item = self.cut(rng)
            while not self.stop.is_set():
                try:
                    self.ready.put(item, timeout=0.5)
                    break
                except queue.Full:
                    continue

    def __enter__(self):
        for t in self.threads:
            t.start()
        return self

    def __exit__(self, *exc):
        self.stop.set()
        for t in self.threads:
            t.join()

    def __iter__(self):
        while True:
            yield self.ready.get()


def unet(width=24):
    k = tf.keras.layers
    inp = tf.keras.Input((SIZE, SIZE, 3))
    skips, x = [], inp
    for depth in range(3):
        x = k.Conv2D(width << depth, 3, padding="same", activation="relu")(x)
        x = k.Conv2D(width << depth, 3, padding="same", activation="relu")(x)
        skips.append(x)
        x = k.MaxPooling2D()(x)
    x = k.Conv2D(width << 3, 3, padding="same", activation="relu")(x)
    for depth in reversed(range(3)):
        x = k.Conv2DTranspose(width << depth, 2, strides=2)(x)
        x = k.Concatenate()([x, skips[depth]])
        x = k.Conv2D(width << depth, 3, padding="same", activation="relu")(x)
    return tf.keras.Model(inp, k.Conv2D(1, 1)(x))


def main(steps=60):
    tf.random.set_seed(2)
    net = unet()
    opt = tf.keras.optimizers.Adam(1e-3)

    @tf.function
    def step(img, msk):
        with tf.GradientTape() as tape:
            logit = net(img, training=True)
            p = tf.sigmoid(logit)
            dice = 1 - (2 * tf.reduce_sum(p * msk) + 1) / (tf.reduce_sum(p + msk) + 1)
            bce = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(msk, logit))
            loss = bce + dice
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables))
        return loss, dice

    with TileLoader() as loader:
        t0 = time.time()
        for i, (img, msk) in enumerate(loader):
            loss, dice = step(tf.constant(img), tf.constant(msk))
            if i % 15 == 0:
                print(f"step {i} loss {float(loss):.4f} dice {1 - float(dice):.3f}")
            if i + 1 == steps:
                break
        print("train wall", round(time.time() - t0, 2))


if __name__ == "__main__":
    main()
