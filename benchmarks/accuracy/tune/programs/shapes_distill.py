"""A large teacher of shapes is trained first, and then taught to a small student."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers


def shapes(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 0.2, (n, 24, 24, 1)).astype("float32")
    y = rng.integers(0, 6, n)
    for k, kind in enumerate(y):
        top, left = rng.integers(0, 12, 2)
        if kind % 2:
            x[k, top : top + 3 + kind, left : left + 12] += 1
        else:
            x[k, top : top + 12, left : left + 3 + kind] += 1
    return x, y


def convnet(filters, name):
    return keras.Sequential(
        [
            keras.Input((24, 24, 1)),
            layers.Conv2D(filters, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2D(2 * filters, 3, strides=2, padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dense(6),
        ],
        name=name,
    )


class Distiller(keras.Model):
    def __init__(self, student, teacher, alpha=0.1, temperature=4.0):
        super().__init__()
        self.student, self.teacher = student, teacher
        self.alpha, self.temperature = alpha, temperature
        self.soft = keras.losses.KLDivergence()

    def call(self, x, training=False):
        return self.student(x, training=training)

    def train_step(self, data):
        x, y = data
        taught = self.teacher(x, training=False) / self.temperature
        with tf.GradientTape() as tape:
            said = self.student(x, training=True)
            hard_loss = self.compute_loss(y=y, y_pred=said)
            soft_loss = self.soft(tf.nn.softmax(taught), tf.nn.softmax(said / self.temperature))
            loss = self.alpha * hard_loss + (1 - self.alpha) * soft_loss * self.temperature**2
        weights = self.student.trainable_variables
        self.optimizer.apply(tape.gradient(loss, weights), weights)
        return {"loss": loss, **self.compute_metrics(x, y, said, None)}


(x_train, y_train), (x_test, y_test) = shapes(3000, 0), shapes(600, 1)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
accuracy = keras.metrics.SparseCategoricalAccuracy

teacher = convnet(32, "teacher")
teacher.compile("adam", loss, metrics=[accuracy()])
teacher.fit(x_train, y_train, batch_size=50, epochs=3, verbose=2, validation_data=(x_test, y_test))
teacher.trainable = False

distiller = Distiller(convnet(8, "student"), teacher)
distiller.compile("adam", loss, metrics=[accuracy()])
distiller.fit(x_train, y_train, batch_size=50, epochs=5, verbose=2)
print(distiller.evaluate(x_test, y_test, verbose=0))
