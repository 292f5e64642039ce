"""First-order meta-learning (Reptile, Nichol et al. 2018)."""

import keras
import numpy as np
import tensorflow as tf


@tf.function
def inner_step(net, optimizer, images, labels):
    with tf.GradientTape() as tape:
        logits = net(images, training=True)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        )
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return loss


@tf.function
def predict_labels(net, images):
    return tf.argmax(net(images, training=False), axis=-1, output_type=tf.int32)


class Reptile:
    def __init__(self, net, cfg, seed=0):
        self.net = net
        self.cfg = cfg
        self.rng = np.random.default_rng(seed)
        self.inner_steps_done = 0

    def snapshot(self):
        return [v.numpy() for v in self.net.trainable_variables]

    def restore(self, weights):
        for var, value in zip(self.net.trainable_variables, weights):
            var.assign(value)

    def _minibatches(self, x, y, steps):
        size = self.cfg.inner_batch
        for _ in range(steps):
            idx = self.rng.choice(len(x), size, replace=len(x) < size)
            yield tf.constant(x[idx]), tf.constant(y[idx])

    def adapt(self, x, y, steps):
        """Trains the network on one task; the moments start from zero for each."""
        optimizer = keras.optimizers.Adam(self.cfg.inner_lr, beta_1=0.0)
        optimizer.build(self.net.trainable_variables)
        loss = None
        for images, labels in self._minibatches(x, y, steps):
            loss = inner_step(self.net, optimizer, images, labels)
            self.inner_steps_done += 1
        return float(loss)

    def meta_update(self, tasks, meta_lr):
        before = self.snapshot()
        deltas = [np.zeros_like(w) for w in before]
        losses = []
        for support_x, support_y, _, _ in tasks:
            losses.append(self.adapt(support_x, support_y, self.cfg.inner_steps))
            for delta, var, old in zip(deltas, self.net.trainable_variables, before):
                delta += var.numpy() - old
            self.restore(before)
        scale = meta_lr / len(tasks)
        self.restore([old + scale * delta for old, delta in zip(before, deltas)])
        return float(np.mean(losses))

    def evaluate(self, tasks):
        before = self.snapshot()
        accuracies = []
        for support_x, support_y, query_x, query_y in tasks:
            self.adapt(support_x, support_y, self.cfg.eval_inner_steps)
            predicted = predict_labels(self.net, tf.constant(query_x)).numpy()
            accuracies.append(float(np.mean(predicted == query_y)))
            self.restore(before)
        return float(np.mean(accuracies))
