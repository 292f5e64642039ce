# # Jacquard loom: fault detection on fabric swatches
# Notebook export. First the weave encoder is pretrained on the pattern id,
# then a small head is trained on few labelled faults.
from dataclasses import dataclass

import keras
import numpy as np
import tensorflow as tf
from keras import layers


@dataclass
class Config:
    size: int = 56
    n_patterns: int = 6
    n_faults: int = 4
    batch: int = 64
    pretrain_epochs: int = 1
    head_epochs: int = 5
    seed: int = 77


cfg = Config()
keras.utils.set_random_seed(cfg.seed)
rng = np.random.default_rng(cfg.seed)


# ## Data
def weave(n):
    yy, xx = np.mgrid[0 : cfg.size, 0 : cfg.size].astype("float32")
    pattern = rng.integers(0, cfg.n_patterns, n)
    fault = rng.integers(0, cfg.n_faults, n)
    imgs = np.empty((n, cfg.size, cfg.size, 1), "float32")
    for i in range(n):
        k = 0.3 + 0.15 * pattern[i]
        img = np.sin(k * xx) * np.cos(k * yy + pattern[i])
        r = rng.integers(4, cfg.size - 4)
        if fault[i] == 1:
            img[r : r + 2] = 0.0  # missing weft
        elif fault[i] == 2:
            img[:, r : r + 2] = 1.0  # double warp
        elif fault[i] == 3:
            img[r - 3 : r + 3, r - 3 : r + 3] *= -1.0
        imgs[i, ..., 0] = img
    imgs += rng.normal(0, 0.15, imgs.shape).astype("float32")
    return imgs, pattern.astype("int32"), fault.astype("int32")


def encoder():
    inp = keras.Input((cfg.size, cfg.size, 1))
    h = inp
    for f, s in ((32, 2), (64, 1), (64, 2), (128, 2)):
        h = layers.Conv2D(f, 3, strides=s, padding="same", activation="relu")(h)
    h = layers.GlobalAveragePooling2D()(h)
    return keras.Model(inp, h, name="weave_encoder")


class FaultFinder(keras.Model):
    """Encoder + head with one learning rate multiplier per part."""

    def __init__(self, enc, multipliers):
        super().__init__()
        self.enc = enc
        self.head = keras.Sequential(
            [layers.Dense(64, activation="relu"), layers.Dense(cfg.n_faults)], name="head"
        )
        self.scale = {
            k: tf.Variable(v, trainable=False, dtype=tf.float32) for k, v in multipliers.items()
        }

    def call(self, x, training=False):
        return self.head(self.enc(x, training=training))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            logits = self(x, training=True)
            loss = self.compute_loss(x, y, logits)
        e, h = self.enc.trainable_variables, self.head.trainable_variables
        grads = tape.gradient(loss, e + h)
        rates = [self.scale["enc"]] * len(e) + [self.scale["head"]] * len(h)
        grads = [g * r for g, r in zip(grads, rates)]
        self.optimizer.apply_gradients(zip(grads, e + h))
        for m in self.metrics:
            if m.name == "loss":
                m.update_state(loss)
            else:
                m.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}


# ## Pretraining on the pattern id
images, pattern, fault = weave(2560)
enc = encoder()
pre = keras.Sequential([enc, layers.Dense(cfg.n_patterns)])
pre.compile(
    "adam",
    keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
    jit_compile=False,
)
pre.fit(images, pattern, batch_size=cfg.batch, epochs=cfg.pretrain_epochs, verbose=2)

# ## Fault head; encoder stays as it is
finder = FaultFinder(enc, {"enc": 0.0, "head": 1.0})
finder.compile(
    keras.optimizers.SGD(0.05, momentum=0.9),
    keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
    jit_compile=False,
)
ds = (
    tf.data.Dataset.from_tensor_slices((images, fault))
    .shuffle(2560, seed=cfg.seed)
    .batch(cfg.batch, drop_remainder=True)
    .map(lambda a, b: (tf.image.random_flip_left_right(a), b))
    .prefetch(2)
)
finder.fit(ds, epochs=cfg.head_epochs, verbose=2)
vi, _, vf = weave(512)
print("held out:", finder.evaluate(vi, vf, batch_size=256, verbose=0))
