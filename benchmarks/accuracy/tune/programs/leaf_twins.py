"""Self-supervised leaf descriptors: momentum contrast on leaf contour signatures."""

import time
import numpy as np
import tensorflow as tf

tf.random.set_seed(7)
np.random.seed(7)

DIM_IN, DIM = 180, 96
BATCH = 128
QUEUE = 4096
TAU = 0.1
MOM = 0.99
STEPS = 700


def contours(n):
    k = np.random.randint(2, 9, (n, 1))
    th = np.linspace(0, 2 * np.pi, DIM_IN)[None]
    r = (
        1
        + 0.3 * np.cos(k * th + np.random.rand(n, 1) * 6)
        + 0.1 * np.random.randn(n, 1) * np.sin(3 * k * th)
    )
    return r.astype("float32")


leaves = contours(20000)


def view(x):
    s = tf.random.uniform([], 0, DIM_IN, dtype=tf.int32)
    x = tf.roll(x, s, axis=1)
    x = x * tf.random.uniform([tf.shape(x)[0], 1], 0.8, 1.2)
    return x + 0.05 * tf.random.normal(tf.shape(x))


def encoder():
    return tf.keras.Sequential(
        [
            tf.keras.Input((DIM_IN,)),
            tf.keras.layers.Dense(512, activation="relu"),
            tf.keras.layers.Dense(512, activation="relu"),
            tf.keras.layers.Dense(DIM),
        ]
    )


query_enc, key_enc = encoder(), encoder()
key_enc.set_weights(query_enc.get_weights())
opt = tf.keras.optimizers.SGD(0.05, momentum=0.9)


@tf.function(
    input_signature=[
        tf.TensorSpec([BATCH, DIM_IN], tf.float32),
        tf.TensorSpec([None, DIM], tf.float32),
    ]
)
def train_step(x, queue):
    k = tf.math.l2_normalize(key_enc(view(x)), axis=1)
    xq = view(x)
    with tf.GradientTape() as tape:
        q = tf.math.l2_normalize(query_enc(xq), axis=1)
        pos = tf.reduce_sum(q * k, axis=1, keepdims=True)
        neg = tf.matmul(q, queue, transpose_b=True)
        logits = tf.concat([pos, neg], axis=1) / TAU
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=tf.zeros([BATCH], tf.int32), logits=logits
            )
        )
    grads = tape.gradient(loss, query_enc.trainable_variables)
    opt.apply_gradients(zip(grads, query_enc.trainable_variables))
    for vk, vq in zip(key_enc.trainable_variables, query_enc.trainable_variables):
        vk.assign(MOM * vk + (1 - MOM) * vq)
    return loss, k


queue = tf.math.l2_normalize(tf.random.normal([QUEUE, DIM]), axis=1)
ds = tf.data.Dataset.from_tensor_slices(leaves).shuffle(20000).repeat().batch(BATCH).prefetch(2)

t0 = time.time()
losses = []
for step, x in enumerate(ds.take(STEPS), 1):
    loss, keys = train_step(x, queue)
    queue = tf.concat([keys, queue], axis=0)
    losses.append(float(loss))
    if step % 100 == 0:
        print("step %d  nce %.3f  elapsed %.1fs" % (step, np.mean(losses[-100:]), time.time() - t0))
