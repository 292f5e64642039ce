import tensorflow as tf


def _var(shape, scale):
    return tf.Variable(tf.random.normal(shape, stddev=scale))


class Lin(tf.Module):
    def __init__(self, i, o, gain=1.0):
        super().__init__()
        self.w, self.b = _var([i, o], gain / i**0.5), tf.Variable(tf.zeros([o]))

    def __call__(self, x):
        y = tf.matmul(tf.reshape(x, [-1, x.shape[-1]]), self.w) + self.b
        return tf.reshape(y, [-1, *x.shape[1:-1], y.shape[-1]])


def norm(x):
    m = tf.reduce_mean(x, -1, keepdims=True)
    v = tf.reduce_mean((x - m) ** 2, -1, keepdims=True)
    return (x - m) * tf.math.rsqrt(v + 1e-5)


class Block(tf.Module):
    def __init__(self, tokens, width):
        super().__init__()
        self.t1, self.t2 = Lin(tokens, tokens), Lin(tokens, tokens, 0.3)
        self.c1, self.c2 = Lin(width, 2 * width), Lin(2 * width, width, 0.3)
        self.film = Lin(width, 2 * width, 0.1)

    def __call__(self, x, e):
        s, b = tf.split(self.film(e)[:, None, :], 2, axis=-1)
        h = norm(x) * (1 + s) + b
        h = tf.transpose(h, [0, 2, 1])
        x = x + tf.transpose(self.t2(tf.nn.relu(self.t1(h))), [0, 2, 1])
        return x + self.c2(tf.nn.relu(self.c1(norm(x))))


class SwatchMixer(tf.Module):
    def __init__(self, side, patch, width, depth):
        super().__init__()
        self.side, self.patch = side, patch
        self.n = side // patch
        self.inp = Lin(patch * patch, width)
        self.place = _var([self.n**2, width], 0.02)
        self.time = Lin(16, width)
        self.blocks = [Block(self.n**2, width) for _ in range(depth)]
        self.out = Lin(width, patch * patch, 0.1)

    def __call__(self, x, t):
        n, p = self.n, self.patch
        h = tf.reshape(x, [-1, n, p, n, p])
        h = tf.reshape(tf.transpose(h, [0, 1, 3, 2, 4]), [-1, n * n, p * p])
        f = t[:, None] * 6.28 * tf.range(1, 9, dtype=tf.float32)[None]
        e = tf.nn.relu(self.time(tf.concat([tf.sin(f), tf.cos(f)], axis=1)))
        h = self.inp(h) + self.place
        for block in self.blocks:
            h = block(h, e)
        h = tf.reshape(self.out(norm(h)), [-1, n, n, p, p])
        return tf.reshape(tf.transpose(h, [0, 1, 3, 2, 4]), [-1, self.side, self.side, 1])
