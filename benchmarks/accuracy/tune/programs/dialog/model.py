"""Attention over a recurrent network."""

import tensorflow as tf


class IntentModel(tf.keras.Model):
    def __init__(self, config):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(config.vocabulary, config.width)
        self.encoder = tf.keras.layers.Conv1D(config.width, 3, padding="same", activation="relu")
        self.recurrent = tf.keras.layers.GRU(config.width, return_sequences=True)
        self.score = tf.keras.layers.Dense(1)
        self.out = tf.keras.layers.Dense(config.intents)

    def call(self, tokens, training=False):
        states = self.recurrent(self.encoder(self.embedding(tokens)))
        bias = tf.where(tokens[..., None] > 0, 0.0, -1e9)
        weights = tf.nn.softmax(self.score(states) + bias, axis=1)
        return self.out(tf.reduce_sum(weights * states, axis=1))
