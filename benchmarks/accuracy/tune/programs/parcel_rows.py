# crop / field boundary segmentation on aerial tiles
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers as L

rng = np.random.default_rng(11)
TILE = 128
CLASSES = 7
PALETTE = rng.uniform(0.1, 0.9, (CLASSES, 3))


def make_tiles(n):
    xs = np.zeros((n, TILE, TILE, 3), np.float32)
    ys = np.zeros((n, TILE, TILE), np.uint8)
    yy, xx = np.mgrid[0:TILE, 0:TILE]
    for i in range(n):
        ang = rng.uniform(0, np.pi)
        t = xx * np.cos(ang) + yy * np.sin(ang)
        u = -xx * np.sin(ang) + yy * np.cos(ang)
        cell = np.floor(t / rng.uniform(18, 40)) * 5 + np.floor(u / rng.uniform(25, 60)) * 3
        lab = np.mod(cell.astype(int) * 7 + rng.integers(0, 50), CLASSES)
        ys[i] = lab
        rows = 0.06 * np.sin(t * (0.5 + 0.15 * lab))
        xs[i] = PALETTE[lab] + rows[..., None] + rng.normal(0, 0.08, (TILE, TILE, 3))
    return xs, ys


def conv_bn(x, f, s=1, d=1, name=None):
    x = L.Conv2D(f, 3, strides=s, padding="same", dilation_rate=d, use_bias=False)(x)
    x = L.BatchNormalization()(x)
    return L.ReLU(name=name)(x)


def build():
    inp = keras.Input((TILE, TILE, 3))
    x = conv_bn(inp, 16, 2)
    x = conv_bn(x, 32, 2)
    skip = x
    x = conv_bn(x, 64, 2)
    x = conv_bn(x, 64)
    a = conv_bn(x, 96, d=1)
    b = conv_bn(x, 96, d=2)
    c = conv_bn(x, 96, d=4)
    x = L.Concatenate()([a, b, c])
    x = L.UpSampling2D(2, interpolation="bilinear")(x)
    x = L.Concatenate()([x, skip])
    # decoder output, stride 4
    x = L.UpSampling2D(4, interpolation="bilinear")(x)
    x = L.Conv2D(CLASSES, 1, name="logits")(x)
    return keras.Model(inp, x)


train_x, train_y = make_tiles(160)
val_x, val_y = make_tiles(24)


def flip(x, y):
    f = tf.random.uniform([]) > 0.5
    x = tf.cond(f, lambda: x[:, ::-1], lambda: x)
    y = tf.cond(f, lambda: y[:, ::-1], lambda: y)
    return x, tf.cast(y, tf.int32)


ds = (
    tf.data.Dataset.from_tensor_slices((train_x, train_y))
    .shuffle(160)
    .map(flip, num_parallel_calls=2)
    .batch(8, drop_remainder=True)
    .prefetch(2)
)
vs = tf.data.Dataset.from_tensor_slices((val_x, val_y.astype(np.int32))).batch(8)

model = build()
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
print("params", model.count_params())
model.fit(ds, validation_data=vs, epochs=7, verbose=2)
iou = []
pred = model.predict(val_x, batch_size=8, verbose=0).argmax(-1)
for k in range(CLASSES):
    i = np.sum((pred == k) & (val_y == k))
    u = np.sum((pred == k) | (val_y == k))
    iou.append(i / max(u, 1))
print("mIoU %.3f" % np.mean(iou))
