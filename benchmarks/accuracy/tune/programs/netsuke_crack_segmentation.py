"""Segment hairline cracks on ivory netsuke photographs with a small U-Net."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SIZE = 64
BATCH = 12
TRAIN, VALID = 600, 72
EPOCHS = 3


def draw(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    images = np.zeros((n, SIZE, SIZE, 3), "float32")
    masks = np.zeros((n, SIZE, SIZE, 1), "float32")
    for i in range(n):
        cy, cx, r = rng.uniform(0.4, 0.6), rng.uniform(0.4, 0.6), rng.uniform(0.3, 0.42)
        body = ((yy - cy) ** 2 + (xx - cx) ** 2) < r**2
        shade = 0.6 + 0.3 * (xx - yy) + rng.normal(0, 0.03, xx.shape)
        img = np.where(body, shade, 0.15)
        y, x, a = rng.uniform(20, 44), rng.uniform(20, 44), rng.uniform(0, 6.28)
        for _ in range(rng.integers(12, 40)):
            a += rng.normal(0, 0.35)
            y, x = y + np.sin(a), x + np.cos(a)
            p, q = int(y), int(x)
            if 0 <= p < SIZE and 0 <= q < SIZE and body[p, q]:
                masks[i, p, q, 0] = 1.0
                img[p, q] -= rng.uniform(0.15, 0.35)
        tint = rng.uniform(0.8, 1.0, 3)
        images[i] = img[..., None] * tint
    return images, masks


def augment(x, y):
    both = tf.concat([x, y], axis=-1)
    both = tf.image.random_flip_left_right(both)
    both = tf.image.random_flip_up_down(both)
    return both[..., :3] + tf.random.uniform([], -0.05, 0.05), both[..., 3:]


def conv(x, f):
    for _ in range(2):
        x = layers.Conv2D(f, 3, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization(momentum=0.9)(x)
        x = layers.Activation("relu")(x)
    return x


def unet():
    inp = keras.Input((SIZE, SIZE, 3))
    a = conv(inp, 12)
    b = conv(layers.MaxPooling2D()(a), 24)
    c = conv(layers.MaxPooling2D()(b), 32)
    x = layers.UpSampling2D()(c)
    x = conv(layers.concatenate([x, b]), 24)
    x = layers.UpSampling2D()(x)
    x = conv(layers.concatenate([x, a]), 12)
    return keras.Model(inp, layers.Conv2D(1, 1, activation="sigmoid")(x))


class CrackLoss(keras.losses.Loss):
    def __init__(self, weight=12.0, name="crack_loss"):
        super().__init__(name=name)
        self.weight = weight

    def call(self, y_true, y_pred):
        p = tf.clip_by_value(y_pred, 1e-5, 1 - 1e-5)
        bce = -(self.weight * y_true * tf.math.log(p) + (1 - y_true) * tf.math.log(1 - p))
        axes = [1, 2, 3]
        inter = tf.reduce_sum(y_true * p, axes)
        dice = 1 - (2 * inter + 1) / (tf.reduce_sum(y_true + p, axes) + 1)
        return tf.reduce_mean(bce, axes) + dice


class AveragePrecision(keras.metrics.Metric):
    """Pixel-wise average precision without binning."""

    def __init__(self, max_images, stride=1, name="average_precision", **kwargs):
        super().__init__(name=name, **kwargs)
        self.stride = stride
        self.per_image = (SIZE // stride) ** 2
        n = max_images * self.per_image
        self.labels = self.add_variable((n,), "zeros", name="labels")
        self.scores = self.add_variable((n,), "zeros", name="scores")
        self.count = self.add_variable((), "zeros", dtype="int32", name="count")

    def update_state(self, y_true, y_pred, sample_weight=None):
        s = self.stride
        y = tf.reshape(y_true[:, ::s, ::s], [-1])
        p = tf.reshape(y_pred[:, ::s, ::s], [-1])
        begin, end = self.count.value, self.count.value + tf.size(y)
        self.labels.value[begin:end].assign(tf.cast(y, "float32"))
        self.scores.value[begin:end].assign(p)
        self.count.assign(end)

    def result(self):
        n = self.count.value
        order = tf.argsort(self.scores.value[:n], direction="DESCENDING")
        hit = tf.gather(self.labels.value[:n], order)
        found = tf.cumsum(hit)
        precision = found / tf.cast(tf.range(1, n + 1), "float32")
        return tf.math.divide_no_nan(tf.reduce_sum(precision * hit), tf.reduce_sum(hit))

    def reset_state(self):
        self.count.assign(0)


def main():
    keras.utils.set_random_seed(8)
    x, y = draw(TRAIN, 0)
    xv, yv = draw(VALID, 1)
    train = (
        tf.data.Dataset.from_tensor_slices((x, y))
        .shuffle(TRAIN)
        .batch(BATCH, drop_remainder=True)
        .map(augment, num_parallel_calls=tf.data.AUTOTUNE)
        .prefetch(2)
    )
    valid = tf.data.Dataset.from_tensor_slices((xv, yv)).batch(BATCH)

    model = unet()
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss=CrackLoss(),
        metrics=[
            AveragePrecision(max_images=TRAIN, name="ap"),
            keras.metrics.BinaryIoU(target_class_ids=[1], threshold=0.5, name="iou"),
        ],
    )
    model.fit(
        train,
        validation_data=valid,
        epochs=EPOCHS,
        verbose=2,
        callbacks=[keras.callbacks.EarlyStopping("val_ap", mode="max", patience=4)],
    )
    pred = model.predict(xv[:24], verbose=0) > 0.5
    print("crack pixels found:", float((pred * yv[:24]).sum() / yv[:24].sum()))


if __name__ == "__main__":
    main()
