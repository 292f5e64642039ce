"""Free parking spaces from counters; every part of the program asks for the logger it needs."""

import logging
import sys

import numpy as np
import tensorflow as tf


def get_logger(name, filename="parking.log"):
    logger = logging.getLogger(name)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    handler = logging.FileHandler(filename)
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
    logger.addHandler(handler)
    return logger


class Counters:
    def __init__(self, places, seed):
        self.rng = np.random.default_rng(seed)
        self.phase = self.rng.uniform(0, 6, places)

    def hour(self, t):
        use = 0.5 + 0.4 * np.sin(t / 24 * 2 * np.pi + self.phase)
        return np.clip(use + self.rng.normal(0, 0.05, len(self.phase)), 0, 1)


class ParkingModel(tf.Module):
    def __init__(self, places, hidden=96):
        super().__init__()
        self.w1 = tf.Variable(tf.random.normal([places * 3, hidden], stddev=0.1))
        self.b1 = tf.Variable(tf.zeros([hidden]))
        self.w2 = tf.Variable(tf.random.normal([hidden, places], stddev=0.1))
        self.momentum = [tf.Variable(tf.zeros_like(v)) for v in (self.w1, self.b1, self.w2)]
        self.optimizer = tf.keras.optimizers.SGD(0.05, momentum=0.9)

    @tf.function
    def learn(self, past, now):
        weights = [self.w1, self.b1, self.w2]
        with tf.GradientTape() as tape:
            guess = tf.nn.relu(past @ self.w1 + self.b1) @ self.w2
            loss = tf.reduce_mean((guess - now) ** 2)
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return loss


def train_day(model, counters, day):
    logger = get_logger("parking.train")
    series = np.stack([counters.hour(24 * day + h) for h in range(27)]).astype("float32")
    past = np.stack([series[h : h + 3].ravel() for h in range(24)])
    for hour in range(24):
        loss = model.learn(past[hour : hour + 1], series[hour + 3 : hour + 4])
        logger.debug("day %d hour %d loss %.5f", day, hour, float(loss))
    return float(loss)


def main():
    tf.random.set_seed(0)
    counters = Counters(places=60, seed=2)
    model = ParkingModel(60)
    for day in range(190):
        loss = train_day(model, counters, day)
        if day % 20 == 0:
            print("day", day, "loss", round(loss, 5), file=sys.stderr)


if __name__ == "__main__":
    main()
