"""A small attention tagger written with tf.Module."""

import math

import tensorflow as tf

from corpus import TAGS, VOCAB


def glorot(rng, *shape):
    scale = math.sqrt(2.0 / (shape[0] + shape[-1]))
    return tf.Variable(rng.normal(shape, stddev=scale))


class Block(tf.Module):
    def __init__(self, rng, width, heads):
        super().__init__()
        self.heads = heads
        self.size = width // heads
        self.qkv = glorot(rng, width, 3 * width)
        self.proj = glorot(rng, width, width)
        self.up = glorot(rng, width, 2 * width)
        self.down = glorot(rng, 2 * width, width)
        self.g1 = tf.Variable(tf.ones([width]))
        self.g2 = tf.Variable(tf.ones([width]))

    @staticmethod
    def norm(x, gain):
        return gain * x * tf.math.rsqrt(tf.reduce_mean(x * x, -1, keepdims=True) + 1e-6)

    def __call__(self, x, bias):
        n, t = tf.shape(x)[0], tf.shape(x)[1]
        q, k, v = tf.split(tf.matmul(self.norm(x, self.g1), self.qkv), 3, axis=-1)

        def cut(z):
            return tf.transpose(tf.reshape(z, [n, t, self.heads, self.size]), [0, 2, 1, 3])

        q, k, v = cut(q), cut(k), cut(v)
        w = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / math.sqrt(self.size) + bias)
        y = tf.reshape(tf.transpose(tf.matmul(w, v), [0, 2, 1, 3]), [n, t, self.heads * self.size])
        x = x + tf.matmul(y, self.proj)
        return x + tf.matmul(tf.nn.gelu(tf.matmul(self.norm(x, self.g2), self.up)), self.down)


class Tagger(tf.Module):
    def __init__(self, width=64, heads=4, depth=1, seed=3):
        super().__init__()
        rng = tf.random.Generator.from_seed(seed)
        self.table = tf.Variable(rng.normal([VOCAB, width], stddev=0.1))
        self.place = tf.Variable(rng.normal([128, width], stddev=0.1))
        self.blocks = [Block(rng, width, heads) for _ in range(depth)]
        self.out = glorot(rng, width, TAGS)

    def __call__(self, words):
        real = tf.cast(words > 0, tf.float32)
        x = tf.gather(self.table, words) + self.place[: tf.shape(words)[1]]
        bias = (1.0 - real)[:, None, None, :] * -1e9
        for block in self.blocks:
            x = block(x, bias)
        return tf.matmul(x, self.out), real


class Adam(tf.Module):
    def __init__(self, variables, rate):
        super().__init__()
        self.v = list(variables)
        self.m1 = [tf.Variable(tf.zeros_like(v)) for v in self.v]
        self.m2 = [tf.Variable(tf.zeros_like(v)) for v in self.v]
        self.t = tf.Variable(0.0)
        self.rate = rate

    def apply(self, grads):
        self.t.assign_add(1.0)
        fix = tf.sqrt(1 - tf.pow(0.999, self.t)) / (1 - tf.pow(0.9, self.t))
        for v, a, b, g in zip(self.v, self.m1, self.m2, grads):
            g = tf.convert_to_tensor(g)
            a.assign(0.9 * a + 0.1 * g)
            b.assign(0.999 * b + 0.001 * g * g)
            v.assign_sub(self.rate * fix * a / (tf.sqrt(b) + 1e-7))
