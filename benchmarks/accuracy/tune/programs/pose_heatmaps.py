"""Key points of hands: each becomes a heatmap that the net learns to draw."""

import math

import numpy as np
import tensorflow as tf

SIDE, GRID, JOINTS = 64, 16, 12
tf.random.set_seed(4)


def hands(n):
    rng = np.random.default_rng(40)
    joints = rng.uniform(8, SIDE - 8, (n, JOINTS, 2)).astype("float32")
    images = rng.normal(0, 0.1, (n, SIDE, SIDE, 3)).astype("float32")
    for k in range(n):
        for j, (row, col) in enumerate(joints[k].astype(int)):
            images[k, row - 2 : row + 3, col - 2 : col + 3, j % 3] += 0.4 + 0.05 * j
    return images, joints


def draw_heatmaps(joints, sigma=1.5):
    scale = GRID / SIDE
    maps = np.zeros((GRID, GRID, JOINTS), np.float32)
    for j in range(JOINTS):
        for row in range(GRID):
            for col in range(GRID):
                away = (row - joints[j, 0] * scale) ** 2 + (col - joints[j, 1] * scale) ** 2
                maps[row, col, j] = math.exp(-away / (2 * sigma**2))
    return maps


def with_heatmaps(image, joints):
    maps = tf.numpy_function(draw_heatmaps, [joints], tf.float32)
    maps.set_shape((GRID, GRID, JOINTS))
    return image, maps


def pose_net():
    layers = tf.keras.layers
    inputs = layers.Input((SIDE, SIDE, 3))
    x = layers.Conv2D(16, 5, strides=2, padding="same", activation="relu")(inputs)
    x = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(x)
    for _ in range(3):
        y = layers.Conv2D(32, 3, padding="same", activation="relu")(x)
        x = layers.Add()([x, layers.BatchNormalization()(y)])
    return tf.keras.Model(inputs, layers.Conv2D(JOINTS, 1)(x))


def main():
    images, joints = hands(700)
    data = tf.data.Dataset.from_tensor_slices((images, joints))
    train = (
        data.take(640)
        .shuffle(640)
        .map(with_heatmaps, num_parallel_calls=tf.data.AUTOTUNE)
        .batch(16, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
    )
    test = data.skip(640).map(with_heatmaps).batch(20).cache()
    model = pose_net()
    model.compile(tf.keras.optimizers.Nadam(1e-3), "mse")
    model.fit(train, validation_data=test, epochs=14, verbose=2)


if __name__ == "__main__":
    main()
