import numpy as np
import tensorflow as tf


class Dense(tf.Module):
    def __init__(self, n_in, n_out, scale=1.0, name=None):
        super().__init__(name)
        init = tf.random.normal([n_in, n_out], stddev=scale / np.sqrt(n_in))
        self.w = tf.Variable(init)
        self.b = tf.Variable(tf.zeros([n_out]))

    def __call__(self, x):
        return tf.matmul(x, self.w) + self.b


class Coupling(tf.Module):
    def __init__(self, width, n_ctx, flip, hidden=256, name=None):
        super().__init__(name)
        self.half = width // 2
        self.flip = flip
        self.l1 = Dense(self.half + n_ctx, hidden)
        self.l2 = Dense(hidden, hidden)
        self.l3 = Dense(hidden, 2 * self.half, scale=0.05)

    def _split(self, x):
        a, b = x[:, : self.half], x[:, self.half :]
        return (b, a) if self.flip else (a, b)

    def _join(self, a, b):
        return tf.concat([b, a] if self.flip else [a, b], axis=1)

    def _params(self, a, ctx):
        h = tf.nn.gelu(self.l1(tf.concat([a, ctx], axis=1)))
        h = h + tf.nn.gelu(self.l2(h))
        s, m = tf.split(self.l3(h), 2, axis=1)
        return 1.5 * tf.tanh(s), m

    def forward(self, x, ctx):
        a, b = self._split(x)
        s, m = self._params(a, ctx)
        return self._join(a, b * tf.exp(s) + m), tf.reduce_sum(s, axis=1)

    def inverse(self, z, ctx):
        a, b = self._split(z)
        s, m = self._params(a, ctx)
        return self._join(a, (b - m) * tf.exp(-s))


class TracerFlow(tf.Module):
    def __init__(self, width, n_ctx, n_couplings=6, name=None):
        super().__init__(name)
        self.width = width
        self.layers = [Coupling(width, n_ctx, bool(i % 2)) for i in range(n_couplings)]
        rng = np.random.default_rng(3)
        self.perms = [rng.permutation(width) for _ in range(n_couplings)]

    def log_prob(self, x, ctx):
        logdet = tf.zeros(tf.shape(x)[:1])
        for layer, perm in zip(self.layers, self.perms):
            x = tf.gather(x, perm, axis=1)
            x, ld = layer.forward(x, ctx)
            logdet += ld
        base = -0.5 * tf.reduce_sum(x**2, axis=1) - 0.5 * self.width * np.log(2 * np.pi)
        return base + logdet

    def draw(self, ctx):
        z = tf.random.normal([ctx.shape[0], self.width])
        for layer, perm in zip(reversed(self.layers), reversed(self.perms)):
            z = layer.inverse(z, ctx)
            z = tf.gather(z, np.argsort(perm), axis=1)
        return z
