"""Trains stage by stage."""

import logging

import tensorflow as tf

log = logging.getLogger("dialog.trainer")


class Trainer:
    def __init__(self, model, config):
        self.model, self.config = model, config
        self.optimizer = tf.keras.optimizers.AdamW(config.rate)
        self.loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
        self.hooks = []

    def on_stage_end(self, hook):
        self.hooks.append(hook)

    @tf.function(
        input_signature=[tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None], tf.int64)]
    )
    def _update(self, tokens, intent):
        with tf.GradientTape() as tape:
            logits = self.model(tokens, training=True)
            loss = self.loss(intent, logits)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        self.accuracy.update_state(intent, logits)
        return loss

    def run(self, sentences):
        for longest, updates in self.config.stages:
            self.accuracy.reset_state()
            for tokens, intent in sentences.stage(longest).take(updates):
                loss = self._update(tokens, intent)
            log.info(
                "up to %d words: loss %.3f accuracy %.3f",
                longest,
                float(loss),
                float(self.accuracy.result()),
            )
            for hook in self.hooks:
                hook(longest)
