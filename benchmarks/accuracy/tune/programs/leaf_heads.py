import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(17)


def leaf_images(n, size=48, species=12, seed=0):
    """Ellipses with veins: the species sets elongation, vein count and hue."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, species, n)
    yy, xx = np.mgrid[-1 : 1 : size * 1j, -1 : 1 : size * 1j]
    ratio = 0.4 + 0.05 * label[:, None, None] + rng.normal(0, 0.03, (n, 1, 1))
    inside = (xx[None] / ratio) ** 2 + yy[None] ** 2 < 0.8
    veins = np.sin((4 + label[:, None, None]) * (yy[None] + np.abs(xx[None])) * 3) > 0.6
    img = np.stack(
        [inside * 0.3, inside * (0.8 - 0.4 * veins), inside * 0.02 * label[:, None, None]], -1
    )
    return (img + rng.normal(0, 0.05, img.shape)).astype("float32"), label.astype("int32")


def backbone(size):
    inp = keras.Input((size, size, 3))
    x = inp
    for width in (32, 64, 96):
        x = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
        x = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
        x = layers.MaxPooling2D()(x)
    return keras.Model(inp, layers.GlobalAveragePooling2D()(x), name="backbone")


def bounded_gradients(tape, loss, model, limit):
    """Gradients for the head together with the global norm that we plot."""
    variables = model.trainable_variables
    grads = tape.gradient(loss, variables)
    grads, norm = tf.clip_by_global_norm(grads, limit)
    by_path = {v.path: g for v, g in zip(variables, grads)}
    return [by_path[v.path] for v in model.head.trainable_variables], norm


class HeadTuner(keras.Model):
    """Backbone as delivered by the herbarium, only the head is fitted."""

    def __init__(self, body, species, limit=2.0):
        super().__init__()
        self.body = body
        self.head = keras.Sequential(
            [layers.Dense(256, activation="relu"), layers.Dropout(0.2), layers.Dense(species)]
        )
        self.limit = limit
        self.loss_metric = keras.metrics.Mean(name="loss")
        self.norm_metric = keras.metrics.Mean(name="grad_norm")
        self.acc_metric = keras.metrics.SparseCategoricalAccuracy(name="acc")

    @property
    def metrics(self):
        return [self.loss_metric, self.norm_metric, self.acc_metric]

    def call(self, x, training=False):
        return self.head(self.body(x, training=False), training=training)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            logits = self(x, training=True)
            loss = tf.reduce_mean(
                keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True)
            )
        grads, norm = bounded_gradients(tape, loss, self, self.limit)
        self.optimizer.apply(grads, self.head.trainable_variables)
        self.loss_metric.update_state(loss)
        self.norm_metric.update_state(norm)
        self.acc_metric.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}


def main():
    x, y = leaf_images(1536)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1536).batch(32, drop_remainder=True)
    ds = ds.prefetch(tf.data.AUTOTUNE)
    model = HeadTuner(backbone(48), species=12)
    model(x[:2])
    opt = keras.optimizers.Adam(1e-3)
    opt.build(model.head.trainable_variables)
    model.compile(optimizer=opt)
    t0 = time.time()
    hist = model.fit(ds, epochs=5, verbose=2)
    print("train wall", round(time.time() - t0, 2))
    print("final", {k: round(float(v[-1]), 4) for k, v in hist.history.items()})


if __name__ == "__main__":
    main()
