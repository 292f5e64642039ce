"""Segment the joints in photographs of kumiko lattice panels (custom train_step)."""

import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

SEED = 2024
SIZE = 48
EPOCHS = 10
STEPS = 12
BATCH = 8


def draw_panel(rng, size=SIZE):
    pitch = rng.integers(8, 14)
    off = rng.integers(0, pitch)
    yy, xx = np.mgrid[:size, :size]
    a = ((xx + yy + off) % pitch) < 2
    b = ((xx - yy + off) % pitch) < 2
    img = 0.3 + 0.4 * (a | b) + 0.08 * rng.normal(size=(size, size))
    return img.astype("float32")[..., None], (a & b).astype("float32")[..., None]


def make_panels(n, seed):
    rng = np.random.default_rng(seed)
    imgs, masks = zip(*(draw_panel(rng) for _ in range(n)))
    return np.stack(imgs), np.stack(masks)


def conv(x, f):
    x = layers.Conv2D(f, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    return layers.Activation("relu")(x)


def small_unet():
    inp = keras.Input((SIZE, SIZE, 1))
    c1 = conv(inp, 12)
    c2 = conv(layers.MaxPooling2D()(c1), 24)
    c3 = conv(layers.MaxPooling2D()(c2), 32)
    u2 = conv(layers.Concatenate()([layers.UpSampling2D()(c3), c2]), 24)
    u1 = conv(layers.Concatenate()([layers.UpSampling2D()(u2), c1]), 12)
    return inp, layers.Conv2D(1, 1)(u1)


class JointSegmenter(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            logits = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=logits)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for m in self.metrics:
            if m.name == "loss":
                m.update_state(loss)
            else:
                m.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}


class JointCount(keras.callbacks.Callback):
    """Counts joints (connected blobs) in the held-out panels."""

    def __init__(self, panels, n_show=24, begin=5):
        super().__init__()
        self.panels = panels[:n_show]
        self.begin = begin
        self.counts = []

    @staticmethod
    def blobs(mask):
        up = np.pad(mask, ((1, 0), (1, 0)))
        return int(np.sum(mask & ~up[:-1, 1:] & ~up[1:, :-1]))

    def on_epoch_end(self, epoch, logs=None):
        if epoch < self.begin:
            return
        logits = [self.model.predict(p[None], verbose=0)[0] for p in self.panels]
        found = sum(self.blobs(m[..., 0] > 0) for m in logits)
        self.counts.append(found)
        print(f"  joints found: {found}")


def colour_jitter(img, mask):
    img = img * tf.random.uniform([], 0.8, 1.2) + tf.random.uniform([], -0.1, 0.1)
    return img, mask


def grain(img, mask):
    """Wood grain: warped noise at several scales, keyed by the panel itself."""
    acc = tf.zeros((SIZE, SIZE))
    key = tf.cast(tf.reduce_sum(img) * 1000.0, tf.int32)
    for s in range(3):
        noise = tf.random.stateless_normal((SIZE * 6, SIZE * 6), seed=[key, s])
        noise = tf.signal.ifft2d(tf.signal.fft2d(tf.cast(noise, tf.complex64)))
        big = tf.image.resize(tf.math.real(noise)[..., None], (SIZE, SIZE), method="area")
        acc += big[..., 0] / (s + 1.0)
    return img + 0.03 * acc[..., None], mask


def main(argv):
    keras.utils.set_random_seed(SEED)
    x, y = make_panels(BATCH * STEPS, 5)
    vx, vy = make_panels(48, 6)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).map(grain, num_parallel_calls=tf.data.AUTOTUNE)
    ds = ds.shuffle(len(x)).map(colour_jitter).batch(BATCH).prefetch(tf.data.AUTOTUNE)
    model = JointSegmenter(*small_unet())
    model.compile("adam", loss=keras.losses.BinaryCrossentropy(from_logits=True))
    t0 = time.time()
    hist = model.fit(
        ds, epochs=EPOCHS, validation_data=(vx, vy), verbose=2, callbacks=[JointCount(vx)]
    )
    print(f"loss {hist.history['loss'][-1]:.4f}; training took {time.time() - t0:.2f} s")


if __name__ == "__main__":
    main(sys.argv)
