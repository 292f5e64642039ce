"""Estimate benthic cover from reef quadrat photos.

One shared convolutional trunk, four small heads: coral cover, algae cover,
dominant growth form and whether a scale bar is visible.
"""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SIZE = 48
FORMS = 5


def draw_quadrats(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    images = np.empty((n, SIZE, SIZE, 3), "float32")
    coral = np.empty(n, "float32")
    algae = np.empty(n, "float32")
    form = rng.integers(0, FORMS, n)
    bar = rng.integers(0, 2, n)
    for i in range(n):
        freq = 2.0 + 2.0 * form[i]
        field = np.sin(freq * np.pi * xx + rng.uniform(0, 6)) + np.cos(
            freq * np.pi * yy + rng.uniform(0, 6)
        )
        cut = rng.uniform(-1.2, 1.2)
        is_coral = field > cut
        is_algae = (~is_coral) & (rng.random((SIZE, SIZE)) < rng.uniform(0, 0.8))
        img = np.full((SIZE, SIZE, 3), (0.75, 0.7, 0.55))
        img[is_coral] = (0.8, 0.35, 0.4)
        img[is_algae] = (0.2, 0.5, 0.25)
        if bar[i]:
            r = rng.integers(2, SIZE - 4)
            img[r : r + 2, 4 : SIZE // 2] = 1.0
        images[i] = img + rng.normal(0, 0.05, img.shape)
        coral[i] = is_coral.mean()
        algae[i] = is_algae.mean()
    targets = {
        "coral": coral[:, None],
        "algae": algae[:, None],
        "form": form.astype("int32"),
        "bar": bar.astype("float32")[:, None],
    }
    return images, targets


def conv_block(x, filters):
    x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization(momentum=0.9)(x)
    x = layers.Activation("relu")(x)
    return layers.MaxPooling2D()(x)


def make_trunk():
    inp = keras.Input((SIZE, SIZE, 3))
    x = conv_block(inp, 16)
    x = conv_block(x, 32)
    x = conv_block(x, 64)
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.Dense(64, activation="relu")(x)
    return keras.Model(inp, x, name="trunk")


class QuadratModel(keras.Model):
    """Trunk with one head per annotation; heads have their own weights in the loss."""

    weights_of = {"coral": 4.0, "algae": 4.0, "form": 1.0, "bar": 0.5}

    def __init__(self):
        super().__init__()
        self.trunk = make_trunk()
        self.heads = {
            "coral": layers.Dense(1, activation="sigmoid"),
            "algae": layers.Dense(1, activation="sigmoid"),
            "form": layers.Dense(FORMS),
            "bar": layers.Dense(1),
        }
        self.trackers = {k: keras.metrics.Mean(name=k) for k in self.heads}

    @property
    def metrics(self):
        return list(self.trackers.values())

    def call(self, images, training=False):
        z = self.trunk(images, training=training)
        return {name: head(z) for name, head in self.heads.items()}

    def head_losses(self, out, y):
        return {
            "coral": tf.reduce_mean(tf.square(out["coral"] - y["coral"])),
            "algae": tf.reduce_mean(tf.square(out["algae"] - y["algae"])),
            "form": tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y["form"], logits=out["form"])
            ),
            "bar": tf.reduce_mean(
                tf.nn.sigmoid_cross_entropy_with_logits(labels=y["bar"], logits=out["bar"])
            ),
        }

    def train_step(self, data):
        images, y = data
        variables = self.trainable_variables
        with tf.GradientTape(persistent=True) as tape:
            out = self(images, training=True)
            losses = self.head_losses(out, y)
            weighted = {k: self.weights_of[k] * v for k, v in losses.items()}
        total = [tf.zeros_like(v) for v in variables]
        for name in weighted:
            grads = tape.gradient(weighted[name], variables)
            total = [a if g is None else a + g for a, g in zip(total, grads)]
        del tape
        self.optimizer.apply_gradients(zip(total, variables))
        for k, v in losses.items():
            self.trackers[k].update_state(v)
        return {k: t.result() for k, t in self.trackers.items()}

    def test_step(self, data):
        images, y = data
        losses = self.head_losses(self(images, training=False), y)
        for k, v in losses.items():
            self.trackers[k].update_state(v)
        return {k: t.result() for k, t in self.trackers.items()}


def main():
    keras.utils.set_random_seed(3)
    train_x, train_y = draw_quadrats(1600, 0)
    val_x, val_y = draw_quadrats(320, 1)
    train = (
        tf.data.Dataset.from_tensor_slices((train_x, train_y))
        .shuffle(1600)
        .batch(32, drop_remainder=True)
        .prefetch(2)
    )
    val = tf.data.Dataset.from_tensor_slices((val_x, val_y)).batch(64)

    model = QuadratModel()
    model(train_x[:1])
    model.compile(optimizer=keras.optimizers.Adam(2e-3))
    model.fit(train, validation_data=val, epochs=10, verbose=2)

    pred = model.predict(val_x, batch_size=64, verbose=0)
    print("coral cover MAE  %.3f" % np.abs(pred["coral"] - val_y["coral"]).mean())
    print("algae cover MAE  %.3f" % np.abs(pred["algae"] - val_y["algae"]).mean())
    print("growth form acc  %.3f" % (pred["form"].argmax(1) == val_y["form"]).mean())


if __name__ == "__main__":
    main()
