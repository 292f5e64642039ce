"""Streaming classification of sensor events with an episodic memory that is read by attention."""

import numpy as np
import tensorflow as tf

KEYS, EVENTS, BATCH = 48, 12, 32


class EpisodicMemory(tf.Module):
    """Keys and labels of what was seen; new ones are appended."""

    def __init__(self):
        super().__init__()
        self.keys = tf.Variable(tf.zeros([1, KEYS]), shape=[None, KEYS], trainable=False)
        self.labels = tf.Variable(tf.zeros([1, EVENTS]), shape=[None, EVENTS], trainable=False)

    def write(self, keys, labels):
        self.keys.assign(tf.concat([self.keys, tf.stop_gradient(keys)], axis=0))
        self.labels.assign(tf.concat([self.labels, tf.one_hot(labels, EVENTS)], axis=0))

    def read(self, query):
        attention = tf.nn.softmax(tf.matmul(query, self.keys, transpose_b=True) * 8.0)
        return tf.matmul(attention, self.labels)


class EventNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.body = tf.keras.Sequential(
            [
                tf.keras.layers.Conv1D(32, 5, strides=2, activation="relu"),
                tf.keras.layers.Conv1D(48, 5, strides=2, activation="relu"),
                tf.keras.layers.Conv1D(48, 5, activation="relu"),
                tf.keras.layers.GlobalMaxPooling1D(),
                tf.keras.layers.Dense(KEYS),
                tf.keras.layers.UnitNormalization(),
            ]
        )
        self.direct = tf.keras.layers.Dense(EVENTS)

    def call(self, x, training=False):
        key = self.body(x, training=training)
        return key, self.direct(key)


def stream(seed=2):
    rng = np.random.default_rng(seed)
    shapes = rng.normal(size=(EVENTS, 128, 3)).cumsum(axis=1) / 8
    while True:
        y = rng.integers(0, EVENTS, BATCH)
        x = np.roll(shapes[y], rng.integers(0, 20), axis=1) + rng.normal(0, 0.7, (BATCH, 128, 3))
        yield tf.constant(x, tf.float32), tf.constant(y, tf.int32)


net, memory = EventNet(), EpisodicMemory()
optimizer = tf.keras.optimizers.Adam(1e-3)


@tf.function(input_signature=[tf.TensorSpec([BATCH, 128, 3]), tf.TensorSpec([BATCH], tf.int32)])
def learn(x, y):
    with tf.GradientTape() as tape:
        key, logits = net(x, training=True)
        recalled = memory.read(key)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        hit = tf.gather(recalled, y, batch_dims=1)
        loss -= 0.3 * tf.reduce_mean(tf.math.log(hit + 1e-3))
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    memory.write(key, y)
    return loss, tf.reduce_mean(hit)


for step, (x, y) in enumerate(stream()):
    loss, hit = learn(x, y)
    if step % 100 == 0:
        print(f"event batch {step}: loss {loss:.3f}, recalled {hit:.3f}")
    if step == 1700:
        break
