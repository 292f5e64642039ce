# Restricted Boltzmann machine for ratings of jokes. Ported from my 2017 code.
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)

N_JOKES = 400
N_HIDDEN = 256
BATCH = 256
STEPS = 1000


def load_ratings(n_users=6000):
    rng = np.random.RandomState(3)
    taste = rng.randn(n_users, 12)
    jokes = rng.randn(12, N_JOKES)
    return (taste.dot(jokes) + rng.randn(n_users, N_JOKES) > 0.5).astype(np.float32)


class RBM(object):
    def __init__(self, n_visible, n_hidden, k=6):
        self.v = tf.placeholder(tf.float32, [None, n_visible], "v")
        self.w = tf.get_variable(
            "w", [n_visible, n_hidden], initializer=tf.random_normal_initializer(stddev=0.01)
        )
        self.a = tf.get_variable("a", [n_visible], initializer=tf.zeros_initializer())
        self.b = tf.get_variable("b", [n_hidden], initializer=tf.zeros_initializer())
        self.speed = tf.get_variable(
            "speed", [n_visible, n_hidden], initializer=tf.zeros_initializer(), trainable=False
        )
        self.momentum = tf.get_variable(
            "momentum", [], initializer=tf.zeros_initializer(), trainable=False
        )
        self.train = self._contrastive_divergence(k)
        self.error = self._error()

    def hidden(self, v):
        return tf.sigmoid(tf.matmul(v, self.w) + self.b)

    def visible(self, h):
        return tf.sigmoid(tf.matmul(h, self.w, transpose_b=True) + self.a)

    def sample(self, p):
        return tf.cast(tf.random_uniform(tf.shape(p)) < p, tf.float32)

    def _contrastive_divergence(self, k, lr=0.05):
        h0 = self.hidden(self.v)
        h = h0
        for _ in range(k):
            v = self.visible(self.sample(h))
            h = self.hidden(v)
        n = tf.cast(tf.shape(self.v)[0], tf.float32)
        grad = (tf.matmul(self.v, h0, transpose_a=True) - tf.matmul(v, h, transpose_a=True)) / n
        speed = self.speed.assign(self.momentum * self.speed + lr * grad)
        return tf.group(
            self.w.assign_add(speed),
            self.a.assign_add(lr * tf.reduce_mean(self.v - v, 0)),
            self.b.assign_add(lr * tf.reduce_mean(h0 - h, 0)),
        )

    def _error(self):
        again = self.visible(self.hidden(self.v))
        return tf.reduce_mean(tf.abs(self.v - again))

    def set_momentum(self, sess, value):
        sess.run(self.momentum.assign(value))


ratings = load_ratings()
rbm = RBM(N_JOKES, N_HIDDEN)
errors = []
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(STEPS):
        rbm.set_momentum(sess, min(0.9, 0.5 + step / 1000.0))
        batch = ratings[np.random.randint(0, len(ratings), BATCH)]
        sess.run(rbm.train, {rbm.v: batch})
        errors.append(sess.run(rbm.error, {rbm.v: batch}))
        if step % 100 == 0:
            print("step %d: error %.4f" % (step, np.mean(errors[-100:])))
print("done, error %.4f" % np.mean(errors[-100:]))
