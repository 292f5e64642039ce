"""Shared by the metric, segmentation and counting trainers."""

import tensorflow as tf


class TrainerBase:
    clip = 10.0

    def __init__(self, parts, lr):
        self.parts = parts
        self.optimizer = tf.keras.optimizers.AdamW(lr, weight_decay=1e-4)
        self.optimizer.build(self.learned)

    @property
    def weights(self):
        return [w for part in self.parts for w in part.weights]

    @property
    def learned(self):
        return [w for part in self.parts for w in part.trainable_weights]

    def objective(self, x, y):
        raise NotImplementedError

    @tf.function(reduce_retracing=True)
    def step(self, x, y):
        with tf.GradientTape() as tape:
            tape.watch([w.value for w in self.weights])
            loss = self.objective(x, y)
        slopes = self.slopes(tape, loss)
        self.optimizer.apply_gradients(
            (g, w) for g, w in slopes if any(w is t for t in self.learned)
        )
        return loss

    def slopes(self, tape, loss):
        """Gradient/weight pairs, clipped together."""
        over = self.weights
        grads = tape.gradient(loss, over)
        grads, _ = tf.clip_by_global_norm(grads, self.clip)
        return list(zip(grads, over))
