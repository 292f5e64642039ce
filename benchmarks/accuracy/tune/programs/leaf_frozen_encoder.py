"""Fine-tune the classification head of a leaf-disease model on top of a fixed encoder."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SIZE = 64
CLASSES = 6
BATCH = 32
N_TRAIN = 1280
EPOCHS = 13


def make_leaves(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    images = np.empty((n, SIZE, SIZE, 3), np.float32)
    labels = rng.integers(0, CLASSES, size=n)
    for i, c in enumerate(labels):
        cx, cy = rng.uniform(0.35, 0.65, size=2)
        leaf = ((xx - cx) ** 2 / 0.08 + (yy - cy) ** 2 / 0.15) < 1
        spots = (
            np.sin((4 + 3 * c) * 6.28 * xx + rng.uniform(0, 6))
            * np.sin((4 + 2 * c) * 6.28 * yy + rng.uniform(0, 6))
            > 0.5
        )
        images[i, ..., 0] = leaf * (0.2 + 0.5 * spots)
        images[i, ..., 1] = leaf * (0.7 - 0.2 * spots)
        images[i, ..., 2] = 0.1
    images += rng.normal(scale=0.05, size=images.shape)
    return images.astype(np.float32), labels.astype(np.int32)


def conv_block(x, filters, name, stride=2):
    x = layers.Conv2D(filters, 3, strides=stride, padding="same", name=f"{name}_conv")(x)
    x = layers.LayerNormalization(name=f"{name}_norm")(x)
    return layers.Activation("relu", name=f"{name}_relu")(x)


def build_encoder():
    inp = keras.Input((SIZE, SIZE, 3))
    x = conv_block(inp, 24, "encoder_b1", stride=2)
    x = conv_block(x, 32, "encoder_b2", stride=1)
    x = conv_block(x, 48, "encoder_b3", stride=2)
    x = conv_block(x, 64, "encoder_b4", stride=1)
    x = layers.GlobalMaxPooling2D(name="encoder_pool")(x)
    return keras.Model(inp, x, name="encoder")


def build_head():
    return keras.Sequential(
        [
            keras.Input((64,)),
            layers.LayerNormalization(name="head_norm"),
            layers.Dense(128, activation="relu", name="head_hidden"),
            layers.Dropout(0.2),
            layers.Dense(CLASSES, name="head_logits"),
        ],
        name="head",
    )


class LeafClassifier(keras.Model):
    """Only the head is tuned, the encoder keeps what it learnt on the large corpus."""

    def __init__(self, encoder, head, clip=1.0):
        super().__init__()
        self.encoder = encoder
        self.head = head
        self.clip = clip
        self.grad_norm = keras.metrics.Mean(name="grad_norm")

    def call(self, x, training=False):
        return self.head(self.encoder(x, training=training), training=training)

    def tuned(self, variables):
        return [v for v in variables if "head" in v.path]

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            logits = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=logits)
        variables = self.trainable_variables
        grads = tape.gradient(loss, variables)
        grads, norm = tf.clip_by_global_norm(grads, self.clip)
        keep = {id(v) for v in self.tuned(variables)}
        self.optimizer.apply_gradients([(g, v) for g, v in zip(grads, variables) if id(v) in keep])
        self.grad_norm.update_state(norm)
        for m in self.metrics:
            if m.name == "loss":
                m.update_state(loss)
            elif m.name != "grad_norm":
                m.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        logits = self(x, training=False)
        loss = self.compute_loss(y=y, y_pred=logits)
        for m in self.metrics:
            if m.name == "loss":
                m.update_state(loss)
            elif m.name != "grad_norm":
                m.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics if m.name != "grad_norm"}


def main():
    keras.utils.set_random_seed(11)
    x, y = make_leaves(N_TRAIN, 0)
    xv, yv = make_leaves(192, 1)
    train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(N_TRAIN, seed=2)
    train = train.batch(BATCH, drop_remainder=True).prefetch(2)
    valid = tf.data.Dataset.from_tensor_slices((xv, yv)).batch(64)
    model = LeafClassifier(build_encoder(), build_head())
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[keras.metrics.SparseCategoricalAccuracy(name="acc")],
    )
    model.fit(train, validation_data=valid, epochs=EPOCHS, verbose=2)


if __name__ == "__main__":
    main()
