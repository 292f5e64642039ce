"""Two towers for customers and records."""

import keras
import tensorflow as tf
from keras import layers

from sales import CUSTOMERS, RECORDS


class Towers(keras.Model):
    def __init__(self, size=48):
        super().__init__()
        self.who = layers.Embedding(CUSTOMERS, size)
        self.what = layers.Embedding(RECORDS, size)
        self.who_mlp = keras.Sequential([layers.Dense(128, activation="relu"), layers.Dense(64)])
        self.what_mlp = keras.Sequential([layers.Dense(128, activation="relu"), layers.Dense(64)])

    def customers(self, ids):
        return tf.math.l2_normalize(self.who_mlp(self.who(ids)), -1)

    def records(self, ids):
        return tf.math.l2_normalize(self.what_mlp(self.what(ids)), -1)

    def call(self, pair):
        return tf.matmul(self.customers(pair[0]), self.records(pair[1]), transpose_b=True) / 0.1
