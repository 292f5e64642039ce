"""Denoising autoencoder for machine sensor readings (ported from our TF 1.x code base)."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()

N_SENSORS = 128
LAYERS = [256, 64, 256]
BATCH = 256
STEPS = 3000
MAX_NORM = 1.5


def readings(n, seed):
    rng = np.random.RandomState(seed)
    mixing = np.random.RandomState(0).normal(size=(10, N_SENSORS)) / 3
    latent = rng.normal(size=(n, 10))
    return np.tanh(latent.dot(mixing) + 0.05 * rng.normal(size=(n, N_SENSORS))).astype(np.float32)


class Autoencoder(object):
    def __init__(self, sizes, lr):
        self.clean = tf.placeholder(tf.float32, [None, N_SENSORS], name="clean")
        self.noise = tf.placeholder_with_default(0.0, [], name="noise")
        self.kernels = []
        h = self.clean + self.noise * tf.random_normal(tf.shape(self.clean))
        width = N_SENSORS
        for i, size in enumerate(sizes):
            h = tf.nn.relu(self.dense(h, width, size, "layer%d" % i))
            width = size
        self.output = self.dense(h, width, N_SENSORS, "output")
        self.loss = tf.reduce_mean(tf.squared_difference(self.output, self.clean))
        self.global_step = tf.train.get_or_create_global_step()
        rate = tf.train.exponential_decay(lr, self.global_step, 1000, 0.7)
        self.train_op = tf.train.AdamOptimizer(rate).minimize(
            self.loss, global_step=self.global_step
        )

    def dense(self, x, n_in, n_out, name):
        with tf.variable_scope(name):
            w = tf.get_variable("w", [n_in, n_out], initializer=tf.glorot_uniform_initializer())
            b = tf.get_variable("b", [n_out], initializer=tf.zeros_initializer())
            self.kernels.append(w)
            return tf.matmul(x, w) + b


class Constraint(object):
    """Keeps the incoming weight vector of each unit inside a ball."""

    def __init__(self, sess, kernels, radius):
        self.sess = sess
        self.kernels = kernels
        self.radius = radius

    def project(self):
        ops = [w.assign(tf.clip_by_norm(w, self.radius, axes=[0])) for w in self.kernels]
        self.sess.run(ops)


def batches(data, size, rng):
    while True:
        order = rng.permutation(len(data))
        for i in range(0, len(data) - size + 1, size):
            yield data[order[i : i + size]]


def main():
    np.random.seed(0)
    tf.set_random_seed(0)
    train, test = readings(20000, 1), readings(2000, 2)
    model = Autoencoder(LAYERS, 2e-3)
    saver = tf.train.Saver(max_to_keep=1)
    stream = batches(train, BATCH, np.random.RandomState(5))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        constraint = Constraint(sess, model.kernels, MAX_NORM)
        running = None
        for step in range(1, STEPS + 1):
            feed = {model.clean: next(stream), model.noise: 0.2}
            _, loss = sess.run([model.train_op, model.loss], feed_dict=feed)
            running = loss if running is None else 0.98 * running + 0.02 * loss
            if step % 20 == 0:
                constraint.project()
            if step % 500 == 0:
                err = sess.run(model.loss, feed_dict={model.clean: test})
                print("step %d  train %.5f  test %.5f" % (step, running, err))
        import os
        import tempfile

        saver.save(sess, os.path.join(tempfile.mkdtemp(), "autoencoder"))


if __name__ == "__main__":
    main()
