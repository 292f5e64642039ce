import numpy as np
import tensorflow as tf


class Bank:
    """Keeps one compiled variant of a method for each setting it was asked for."""

    def __init__(self, build):
        self.build = build
        self.kept = {}

    def __getitem__(self, setting):
        if setting not in self.kept:
            self.kept[setting] = self.build(setting)
        return self.kept[setting]


class AdamState(tf.Module):
    def __init__(self, params, lr):
        super().__init__()
        self.lr = lr
        self.t = tf.Variable(0.0)
        self.m = [tf.Variable(tf.zeros_like(p)) for p in params]
        self.v = [tf.Variable(tf.zeros_like(p)) for p in params]

    def apply(self, params, grads):
        self.t.assign_add(1.0)
        step = self.lr * tf.sqrt(1 - 0.999**self.t) / (1 - 0.9**self.t)
        for p, g, m, v in zip(params, grads, self.m, self.v):
            m.assign(0.9 * m + 0.1 * g)
            v.assign(0.999 * v + 0.001 * g * g)
            p.assign_sub(step * m / (tf.sqrt(v) + 1e-8))


class Fitter:
    def __init__(self, flow, lr):
        self.flow = flow
        self.params = list(flow.trainable_variables)
        self.opt = AdamState(self.params, lr)
        self.updates = Bank(self._make_update)

    @tf.function
    def nll(self, x, ctx):
        return -tf.reduce_mean(self.flow.log_prob(x, ctx))

    def _make_update(self, regime):
        @tf.function
        def update(x, ctx):
            if regime.jitter > 0:
                x = x + regime.jitter * tf.random.normal(tf.shape(x))
            with tf.GradientTape() as tape:
                loss = -tf.reduce_mean(self.flow.log_prob(x, ctx))
                total = loss
                if regime.ridge > 0:
                    total += regime.ridge * tf.add_n([tf.nn.l2_loss(p) for p in self.params])
            grads = tape.gradient(total, self.params)
            grads, _ = tf.clip_by_global_norm(grads, regime.clip)
            self.opt.apply(self.params, grads)
            return loss

        return update

    def epoch(self, batches, regime):
        update = self.updates[regime]
        losses = [update(tf.constant(x), tf.constant(c)) for x, c in batches]
        return float(np.mean([l.numpy() for l in losses]))
