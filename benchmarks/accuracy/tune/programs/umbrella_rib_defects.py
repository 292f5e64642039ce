# umbrella workshop: photos of opened umbrellas from below, which rib is bent?
# 8 ribs + "all fine" -> 9 classes. Custom loop because I want to log per epoch.
import os
import time
from dataclasses import dataclass

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf


@dataclass
class Cfg:
    size: int = 48
    n_train: int = 1024
    n_test: int = 192
    batch: int = 32
    epochs: int = 12
    lr: float = 1e-3
    ribs: int = 8
    seed: int = 5


cfg = Cfg()
np.random.seed(cfg.seed)
tf.random.set_seed(cfg.seed)


def umbrella(label):
    yy, xx = np.mgrid[0 : cfg.size, 0 : cfg.size].astype(np.float32)
    cx = cfg.size / 2
    r = np.hypot(xx - cx, yy - cx)
    ang = np.arctan2(yy - cx, xx - cx) % (2 * np.pi)
    img = 0.3 * (r < cx * 0.9)
    for k in range(cfg.ribs):
        a = 2 * np.pi * k / cfg.ribs
        if k == label:
            a = a + 0.018 * r
        d = np.abs(np.angle(np.exp(1j * (ang - a)))) * r
        img = img + 0.7 * np.exp(-(d**2)) * (r < cx * 0.9)
    img = np.repeat(img[..., None], 3, axis=2) * np.random.uniform(0.6, 1.0, 3)
    return img + 0.08 * np.random.randn(cfg.size, cfg.size, 3)


def load(n):
    labels = np.random.randint(0, cfg.ribs + 1, n)
    images = np.stack([umbrella(l) for l in labels]).astype(np.float32)
    return images, labels.astype(np.int32)


def augment(image, label):
    image = tf.image.random_brightness(image, 0.1)
    image = tf.image.random_contrast(image, 0.9, 1.1)
    image = tf.image.random_saturation(image, 0.8, 1.2)
    image = tf.pad(image, [[2, 2], [2, 2], [0, 0]], mode="REFLECT")
    image = tf.image.random_crop(image, [cfg.size, cfg.size, 3])
    return image, label


class RibNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.convs = [
            tf.keras.layers.Conv2D(c, 3, strides=2, padding="same", activation="relu")
            for c in (24, 48, 64)
        ]
        self.flat = tf.keras.layers.Flatten()
        self.fc = tf.keras.layers.Dense(96, activation="relu")
        self.out = tf.keras.layers.Dense(cfg.ribs + 1)

    def call(self, x, training=False):
        for c in self.convs:
            x = c(x)
        return self.out(self.fc(self.flat(x)))


model = RibNet()
optimizer = tf.keras.optimizers.Adam(cfg.lr)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
mean_loss = tf.keras.metrics.Mean()


@tf.function
def train_step(images, labels):
    with tf.GradientTape() as tape:
        loss = loss_fn(labels, model(images, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    mean_loss.update_state(loss)


@tf.function
def predict(images):
    return tf.argmax(model(images), axis=1)


def train(dataset, x_test, y_test):
    for epoch in range(cfg.epochs):
        t0 = time.time()
        mean_loss.reset_state()
        dataset = dataset.shuffle(cfg.n_train).map(augment, num_parallel_calls=tf.data.AUTOTUNE)
        for images, labels in dataset.batch(cfg.batch).prefetch(2):
            train_step(images, labels)
        acc = np.mean(predict(x_test).numpy() == y_test)
        print(
            f"Epoch {epoch + 1} of {cfg.epochs}: loss {mean_loss.result():.4f} test acc {acc:.3f} ({time.time() - t0:.1f}s)"
        )


x, y = load(cfg.n_train)
x_test, y_test = load(cfg.n_test)
x_test = tf.constant(x_test)
train(tf.data.Dataset.from_tensor_slices((x, y)), x_test, y_test)
