"""Super resolution on random crops, compiled with XLA."""

import time

import numpy as np
import tensorflow as tf

tf.random.set_seed(0)
k1 = tf.Variable(tf.random.normal([5, 5, 1, 16], stddev=0.1))
k2 = tf.Variable(tf.random.normal([3, 3, 16, 16], stddev=0.1))
k3 = tf.Variable(tf.random.normal([3, 3, 16, 4], stddev=0.1))
variables = [k1, k2, k3]
optimizer = tf.keras.optimizers.SGD(1e-3)
optimizer.build(variables)


@tf.function(jit_compile=True)
def update(small, large):
    with tf.GradientTape() as tape:
        x = tf.nn.relu(tf.nn.conv2d(small, k1, 1, "SAME"))
        x = tf.nn.relu(tf.nn.conv2d(x, k2, 1, "SAME"))
        x = tf.nn.depth_to_space(tf.nn.conv2d(x, k3, 1, "SAME"), 2)
        loss = tf.reduce_mean(tf.square(x - large))
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


picture = np.random.default_rng(1).random((256, 256)).astype("float32")
start = time.time()
for it in range(400):
    size = 2 * int(np.random.randint(12, 32)) if it % 4 == 0 else 48
    row, col = np.random.randint(0, 256 - size, 2)
    crop = tf.constant(picture[None, row : row + size, col : col + size, None])
    loss = update(tf.image.resize(crop, [size // 2, size // 2]), crop)
    if it % 50 == 0:
        print(it, loss.numpy(), f"{time.time() - start:.1f}s")
