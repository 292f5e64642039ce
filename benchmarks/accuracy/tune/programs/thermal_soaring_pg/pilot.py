import tensorflow as tf


class Pilot(tf.Module):
    def __init__(self, n_obs, hidden, n_act=5):
        super().__init__()
        ini = tf.keras.initializers.GlorotUniform(seed=11)
        mk = lambda *s: tf.Variable(ini(s))
        self.w1, self.b1 = mk(n_obs, hidden), tf.Variable(tf.zeros([hidden]))
        self.w2, self.b2 = mk(hidden, hidden), tf.Variable(tf.zeros([hidden]))
        self.wp, self.bp = tf.Variable(0.01 * ini((hidden, n_act))), tf.Variable(tf.zeros([n_act]))
        self.wv, self.bv = mk(hidden, 1), tf.Variable(tf.zeros([1]))

    def __call__(self, obs):
        h = tf.nn.tanh(tf.matmul(obs, self.w1) + self.b1)
        h = tf.nn.tanh(tf.matmul(h, self.w2) + self.b2)
        return tf.matmul(h, self.wp) + self.bp, tf.squeeze(tf.matmul(h, self.wv) + self.bv, 1)
