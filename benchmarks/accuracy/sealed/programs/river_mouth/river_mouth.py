"""Estimates how much mud settles in a river mouth; another process simulates the pictures."""

import os
import queue
import subprocess
import sys
import threading

import numpy as np
import tensorflow as tf

SIDE, BATCH, STEPS = 32, 48, 550
HERE = os.path.dirname(os.path.abspath(__file__))


class Simulation:
    """Reads batches ahead, a few at most."""

    def __init__(self, seed):
        command = [sys.executable, os.path.join(HERE, "simulate.py"), str(BATCH), str(seed)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
        self.ahead = queue.Queue(maxsize=6)
        self.is_open = True
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        pipe = self.process.stdout
        while self.is_open:
            pictures = np.frombuffer(pipe.read(BATCH * SIDE * SIDE * 4), np.float32)
            settled = np.frombuffer(pipe.read(BATCH * 4), np.float32)
            self.ahead.put((pictures.reshape(BATCH, SIDE, SIDE, 1), settled))

    def next(self):
        return self.ahead.get()

    def close(self):
        self.is_open = False
        while self.thread.is_alive():
            try:
                self.ahead.get(timeout=0.1)
            except queue.Empty:
                pass
        self.process.stdout.close()
        self.process.terminate()
        self.process.wait()


def build():
    inputs = tf.keras.Input((SIDE, SIDE, 1))
    x = inputs
    for filters in (32, 48, 64):
        x = tf.keras.layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
        x = tf.keras.layers.Conv2D(filters, 3, strides=2, padding="same", activation="relu")(x)
    x = tf.keras.layers.Flatten()(x)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(1)(x))


def main():
    model = build()
    optimizer = tf.keras.optimizers.Adam(1e-3)

    @tf.function
    def train_step(pictures, settled):
        with tf.GradientTape() as tape:
            error = model(pictures, training=True)[:, 0] - settled
            loss = tf.reduce_mean(error**2)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    simulation = Simulation(seed=4)
    mean = tf.keras.metrics.Mean()
    for step in range(1, STEPS + 1):
        pictures, settled = simulation.next()
        mean.update_state(train_step(tf.constant(pictures), tf.constant(settled)))
        if step % 50 == 0:
            print(f"{step}: {float(mean.result()):.4f}")
            mean.reset_state()
    simulation.close()
    model.save_weights("river_mouth.weights.h5")


if __name__ == "__main__":
    main()
