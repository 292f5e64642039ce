"""Galaxy morphology with turns and flips by a Python function in the pipeline."""

import numpy as np
import tensorflow as tf

RANDOM = np.random.default_rng(2)


def galaxies(n, size=28):
    y, x = np.mgrid[-1:1:28j, -1:1:28j]
    label = RANDOM.integers(0, 3, n)
    angle = RANDOM.uniform(0, np.pi, (n, 1, 1))
    u = x * np.cos(angle) + y * np.sin(angle)
    v = (y * np.cos(angle) - x * np.sin(angle)) * (1 + label[:, None, None])
    light = np.exp(-6 * (u**2 + v**2)) + RANDOM.normal(0, 0.05, (n, size, size))
    return light[..., None].astype(np.float32), label.astype(np.int64)


def turn(images):
    images = images.numpy()
    for k, quarters in enumerate(RANDOM.integers(0, 4, len(images))):
        images[k] = np.rot90(images[k], quarters)
    return images[:, :, ::-1] if RANDOM.random() < 0.5 else images


def augment(images, labels):
    turned = tf.py_function(turn, [images], tf.float32)
    turned.set_shape(images.shape)
    return turned, labels


images, labels = galaxies(1500)
dataset = (
    tf.data.Dataset.from_tensor_slices((images, labels))
    .shuffle(1500, reshuffle_each_iteration=True)
    .batch(30)
    .map(augment, num_parallel_calls=2)
    .prefetch(3)
)


class Classifier:
    def __init__(self):
        layers = tf.keras.layers
        self.net = tf.keras.Sequential(
            [
                tf.keras.Input((28, 28, 1)),
                layers.Conv2D(32, 5, activation="relu", padding="same"),
                layers.MaxPool2D(),
                layers.Conv2D(64, 5, activation="relu", padding="same"),
                layers.MaxPool2D(),
                layers.Flatten(),
                layers.Dense(3),
            ]
        )
        self.optimizer = tf.keras.optimizers.Adam()
        self.loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.mean = tf.keras.metrics.Mean()
        self.right = tf.keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.net(x, training=True)
            loss = self.loss(y, logits)
        variables = self.net.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        self.mean.update_state(loss)
        self.right.update_state(y, logits)

    def epoch(self, data):
        self.mean.reset_state()
        self.right.reset_state()
        for x, y in data:
            self.step(x, y)
        return self.mean.result().numpy(), self.right.result().numpy()


classifier = Classifier()
for epoch in range(6):
    print(epoch, *classifier.epoch(dataset))
