"""Generator and critic whose depth follows the current level."""

import keras
import tensorflow as tf
from keras import layers

WIDTHS = [48, 32, 24]  # at 8, 16 and 32 pixels


def _up(x):
    return tf.repeat(tf.repeat(x, 2, axis=1), 2, axis=2)


def _down(x):
    return tf.nn.avg_pool2d(x, 2, 2, "VALID")


def _conv(width, kernel=3):
    return layers.Conv2D(width, kernel, padding="same")


class Generator(keras.Model):
    def __init__(self):
        super().__init__()
        self.stem = layers.Dense(8 * 8 * WIDTHS[0])
        self.blocks = [_conv(w) for w in WIDTHS]
        self.to_gray = [layers.Conv2D(1, 1) for _ in WIDTHS]

    def level_variables(self, level):
        parts = [self.stem] + self.blocks[: level + 1] + self.to_gray[max(0, level - 1) : level + 1]
        return [v for p in parts for v in p.trainable_variables]

    def call(self, z, level, alpha):
        x = tf.reshape(tf.nn.leaky_relu(self.stem(z)), (-1, 8, 8, WIDTHS[0]))
        x = tf.nn.leaky_relu(self.blocks[0](x))
        previous = None
        for i in range(1, level + 1):
            previous = x
            x = tf.nn.leaky_relu(self.blocks[i](_up(x)))
        image = self.to_gray[level](x)
        if level > 0:
            image = alpha * image + (1.0 - alpha) * _up(self.to_gray[level - 1](previous))
        return tf.tanh(image)


class Critic(keras.Model):
    def __init__(self):
        super().__init__()
        self.from_gray = [layers.Conv2D(w, 1) for w in WIDTHS]
        # block i takes the features at level i down to those of level i - 1
        self.blocks = [_conv(WIDTHS[max(0, i - 1)]) for i in range(len(WIDTHS))]
        self.head = layers.Dense(1)

    def level_variables(self, level):
        parts = (
            self.blocks[: level + 1] + self.from_gray[max(0, level - 1) : level + 1] + [self.head]
        )
        return [v for p in parts for v in p.trainable_variables]

    def call(self, image, level, alpha):
        x = tf.nn.leaky_relu(self.from_gray[level](image))
        for i in range(level, 0, -1):
            x = _down(tf.nn.leaky_relu(self.blocks[i](x)))
            if i == level:
                skip = tf.nn.leaky_relu(self.from_gray[i - 1](_down(image)))
                x = alpha * x + (1.0 - alpha) * skip
        x = tf.nn.leaky_relu(self.blocks[0](x))
        return self.head(tf.reshape(x, (-1, 8 * 8 * WIDTHS[0])))[:, 0]
