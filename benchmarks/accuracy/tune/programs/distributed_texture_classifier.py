"""Texture classification with a small residual network under tf.distribute."""

import argparse
import os
import tempfile
import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=15)
parser.add_argument("--global_batch", type=int, default=96)
parser.add_argument("--base_lr", type=float, default=0.08)
parser.add_argument("--train_images", type=int, default=4800)
FLAGS = parser.parse_args()

CLASSES = 8
SIDE = 32


def textures(n, seed):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, CLASSES, n)
    yy, xx = np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij")
    angle = label[:, None, None] * np.pi / CLASSES + rng.normal(0, 0.12, (n, 1, 1))
    freq = rng.uniform(0.35, 0.7, (n, 1, 1))
    phase = rng.uniform(0, 2 * np.pi, (n, 1, 1))
    wave = np.sin(freq * (xx * np.cos(angle) + yy * np.sin(angle)) + phase)
    tint = rng.uniform(0.3, 1.0, (n, 1, 1, 3))
    image = 0.5 + 0.25 * wave[..., None] * tint + rng.normal(0, 0.25, (n, SIDE, SIDE, 3))
    return np.clip(image * 255, 0, 255).astype(np.uint8), label.astype(np.int32)


def augment(images, labels):
    images = tf.cast(images, tf.float32) / 127.5 - 1.0
    n = tf.shape(images)[0]
    gain = tf.random.uniform([n, 1, 1, 1], 0.8, 1.2)
    bias = tf.random.uniform([n, 1, 1, 3], -0.1, 0.1)
    padded = tf.pad(images * gain + bias, [[0, 0], [3, 3], [3, 3], [0, 0]], mode="REFLECT")
    return tf.image.random_crop(padded, [n, SIDE, SIDE, 3]), labels


def scale(images, labels):
    return tf.cast(images, tf.float32) / 127.5 - 1.0, labels


def conv_bn(x, width, stride=1, relu=True):
    x = layers.Conv2D(width, 3, strides=stride, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization(momentum=0.9)(x)
    return layers.ReLU()(x) if relu else x


def residual(x, width, stride):
    shortcut = x
    if stride != 1 or x.shape[-1] != width:
        shortcut = layers.Conv2D(width, 1, strides=stride, use_bias=False)(x)
    y = conv_bn(x, width, stride)
    y = conv_bn(y, width, relu=False)
    return layers.ReLU()(layers.Add()([shortcut, y]))


def build():
    inputs = tf.keras.Input((SIDE, SIDE, 3))
    x = conv_bn(inputs, 16)
    x = residual(x, 16, 2)
    x = residual(x, 32, 2)
    x = residual(x, 64, 2)
    x = layers.GlobalAveragePooling2D()(x)
    return tf.keras.Model(inputs, layers.Dense(CLASSES)(x))


if len(tf.config.list_physical_devices("GPU")) > 1:
    strategy = tf.distribute.MirroredStrategy()
else:
    strategy = tf.distribute.get_strategy()
tf.keras.utils.set_random_seed(23)
x_train, y_train = textures(FLAGS.train_images, 23)
x_test, y_test = textures(960, 24)

train_ds = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(len(x_train))
    .batch(FLAGS.global_batch, drop_remainder=True)
    .map(augment, num_parallel_calls=tf.data.AUTOTUNE)
    .prefetch(tf.data.AUTOTUNE)
)
test_ds = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(240).map(scale).cache()
train_dist = strategy.experimental_distribute_dataset(train_ds)
test_dist = strategy.experimental_distribute_dataset(test_ds)
steps_per_epoch = len(x_train) // FLAGS.global_batch

with strategy.scope():
    model = build()
    lr = tf.keras.optimizers.schedules.CosineDecay(
        FLAGS.base_lr * 0.1,
        (FLAGS.epochs - 1) * steps_per_epoch,
        warmup_target=FLAGS.base_lr,
        warmup_steps=steps_per_epoch,
    )
    optimizer = tf.keras.optimizers.SGD(lr, momentum=0.9, nesterov=True, weight_decay=1e-4)
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=None)
    train_acc = tf.keras.metrics.SparseCategoricalAccuracy()
    test_acc = tf.keras.metrics.SparseCategoricalAccuracy()
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)


def replica_step(images, labels):
    with tf.GradientTape() as tape:
        logits = model(images, training=True)
        per_example = loss_object(labels, logits)
        loss = tf.nn.compute_average_loss(per_example, global_batch_size=FLAGS.global_batch)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    train_acc.update_state(labels, logits)
    return loss


@tf.function
def train_step(images, labels):
    losses = strategy.run(replica_step, args=(images, labels))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


def replica_test(images, labels):
    test_acc.update_state(labels, model(images, training=False))


@tf.function
def test_step(images, labels):
    strategy.run(replica_test, args=(images, labels))


print("replicas:", strategy.num_replicas_in_sync)
with tempfile.TemporaryDirectory() as folder:
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    for epoch in range(FLAGS.epochs):
        started, total = time.time(), 0.0
        for images, labels in train_dist:
            total += train_step(images, labels)
        for images, labels in test_dist:
            test_step(images, labels)
        print(
            f"epoch {epoch + 1} loss {float(total) / steps_per_epoch:.4f} "
            f"train acc {float(train_acc.result()):.4f} test acc {float(test_acc.result()):.4f} "
            f"{time.time() - started:.1f}s"
        )
        train_acc.reset_state()
        test_acc.reset_state()
        if epoch % 4 == 3:
            manager.save()
    print("saved", len(manager.checkpoints), "checkpoints in", os.path.basename(folder))
