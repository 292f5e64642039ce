import keras
import tensorflow as tf
from keras import layers


def build_network(window, channels, width=64):
    inp = keras.Input((window, channels))
    x = layers.Conv1D(width, 7, strides=2, padding="same", activation="relu")(inp)
    for dilation in (1, 2, 4):
        y = layers.Conv1D(width, 3, padding="same", dilation_rate=dilation, activation="relu")(x)
        x = layers.add([x, y])
    x = layers.concatenate([layers.GlobalAveragePooling1D()(x), layers.GlobalMaxPooling1D()(x)])
    x = layers.Dense(32, activation="relu")(x)
    return keras.Model(inp, layers.Dense(1)(x))


class RulEstimator:
    def __init__(self, window, channels, lr, steps):
        self.net = build_network(window, channels)
        schedule = keras.optimizers.schedules.CosineDecay(lr, steps)
        self.optimizer = keras.optimizers.Adam(schedule)

    @tf.function
    def fit_batch(self, x, y):
        with tf.GradientTape() as tape:
            pred = self.net(x, training=True)[:, 0]
            loss = tf.reduce_mean(tf.keras.losses.huber(y[:, None], pred[:, None], delta=0.2))
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss

    @tf.function
    def predict_batch(self, x):
        return self.net(x, training=False)[:, 0]
