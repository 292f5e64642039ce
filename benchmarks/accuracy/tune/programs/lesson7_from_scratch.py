"""
Lesson 7 - a convolutional network without any framework sugar.

We write the layers, the gradient step and the momentum update by hand and run
everything eagerly, so that you can set a breakpoint anywhere and look at the values.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import sys

import numpy as np
import tensorflow as tf

tf.random.set_seed(7)
BATCH = 64
N_STEPS = 620
LR, MOMENTUM = 0.02, 0.9


# ---------------------------------------------------------------- data
def draw_digits(n, seed=0):
    """Seven-segment digits, shifted and noisy - enough for a lesson."""
    segs = {
        0: "abcdef",
        1: "bc",
        2: "abged",
        3: "abgcd",
        4: "fgbc",
        5: "afgcd",
        6: "afgedc",
        7: "abc",
        8: "abcdefg",
        9: "abcdfg",
    }
    box = {
        "a": (2, 4, 6, 16),
        "g": (12, 14, 6, 16),
        "d": (22, 24, 6, 16),
        "f": (3, 13, 5, 7),
        "e": (13, 23, 5, 7),
        "b": (3, 13, 15, 17),
        "c": (13, 23, 15, 17),
    }
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 10, n)
    images = np.zeros((n, 32, 32, 1), np.float32)
    for k, d in enumerate(labels):
        dy, dx = rng.integers(0, 7), rng.integers(0, 11)
        for s in segs[int(d)]:
            y0, y1, x0, x1 = box[s]
            images[k, y0 + dy : y1 + dy, x0 + dx : x1 + dx] = 1.0
    images += rng.normal(0, 0.4, images.shape).astype(np.float32)
    return images, labels.astype(np.int64)


# --------------------------------------------------------------- layers
def he(*shape):
    fan_in = np.prod(shape[:-1])
    return tf.Variable(tf.random.normal(shape, stddev=np.sqrt(2.0 / fan_in)))


W1, b1 = he(5, 5, 1, 16), tf.Variable(tf.zeros([16]))
W2, b2 = he(3, 3, 16, 32), tf.Variable(tf.zeros([32]))
W3, b3 = he(3, 3, 32, 48), tf.Variable(tf.zeros([48]))
W4, b4 = he(8 * 8 * 48, 10), tf.Variable(tf.zeros([10]))
params = [W1, b1, W2, b2, W3, b3, W4, b4]
velocity = [tf.Variable(tf.zeros_like(p)) for p in params]


def network(x):
    x = tf.nn.relu(tf.nn.conv2d(x, W1, 1, "SAME") + b1)
    x = tf.nn.max_pool2d(x, 2, 2, "SAME")
    x = tf.nn.relu(tf.nn.conv2d(x, W2, 1, "SAME") + b2)
    x = tf.nn.max_pool2d(x, 2, 2, "SAME")
    x = tf.nn.relu(tf.nn.conv2d(x, W3, 1, "SAME") + b3)
    return tf.matmul(tf.reshape(x, [-1, 8 * 8 * 48]), W4) + b4


def momentum_step(grads):
    for p, v, g in zip(params, velocity, grads):
        v.assign(MOMENTUM * v + g)
        p.assign_sub(LR * v)


# ------------------------------------------------------------- plotting
def smooth(curve, beta=0.95):
    """Exponential moving average with bias correction (see lesson 4)."""
    avg = 0.0
    for value in curve:
        avg = beta * avg + (1 - beta) * value
    return avg / (1 - beta ** len(curve))


def accuracy(x, y):
    return float(tf.reduce_mean(tf.cast(tf.argmax(network(x), 1) == y, tf.float32)))


# ------------------------------------------------------------- training
x_train, y_train = draw_digits(6000, 0)
x_test, y_test = (tf.constant(a) for a in draw_digits(400, 1))
rng = np.random.default_rng(3)
curve = []

for i in range(1, N_STEPS + 1):
    pick = rng.integers(0, len(x_train), BATCH)
    xb, yb = tf.constant(x_train[pick]), tf.constant(y_train[pick])

    with tf.GradientTape() as tape:
        logits = network(xb)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=yb, logits=logits)
        )
    grads = tape.gradient(loss, params)
    momentum_step(grads)

    curve.append(loss)
    sys.stdout.write(f"\rstep {i:4d}/{N_STEPS}  loss {smooth(curve):.4f}")
    if i % 155 == 0:
        print(f"   test accuracy {accuracy(x_test, y_test):.3f}")

print("last losses:", [round(float(v), 3) for v in curve[-5:]])
