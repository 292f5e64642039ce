import tensorflow as tf

L = tf.keras.layers


class Hop(L.Layer):
    """h_i <- h_i + MLP([h_i, mean_j h_j, max-ish gate])."""

    def __init__(self, norm, width):
        super().__init__()
        self.norm = tf.constant(norm)
        self.here = L.Dense(width)
        self.there = L.Dense(width, use_bias=False)
        self.gate = L.Dense(width, activation="sigmoid")
        self.mix = L.Dense(width)
        self.ln = L.LayerNormalization()

    def call(self, h):
        z = self.ln(h)
        near = tf.matmul(self.norm, self.there(z))
        return h + self.mix(tf.nn.relu(self.here(z) + near * self.gate(z)))


class TubeNet(tf.keras.Model):
    def __init__(self, city, conf):
        super().__init__()
        self.lift = L.Dense(conf.width, activation="relu")
        self.hops = [Hop(city.norm, conf.width) for _ in range(conf.layers)]
        self.jam_head = tf.keras.Sequential([L.Dense(conf.width, activation="relu"), L.Dense(1)])
        self.delay_head = tf.keras.Sequential([L.Dense(conf.width, activation="relu"), L.Dense(1)])
        self.build_on(city.n)

    def build_on(self, n):
        self(tf.zeros([1, n, 5]))

    def call(self, x):
        h = self.lift(x)
        for hop in self.hops:
            h = hop(h)
        return tf.squeeze(self.jam_head(h), -1), tf.squeeze(self.delay_head(h), -1)
