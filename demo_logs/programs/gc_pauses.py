"""A replay memory of Python objects, and a gc.collect() every 40 steps "to free memory"."""

import gc
import sys

import numpy as np
import tensorflow as tf

import tbslow

STEPS = 800
tf.random.set_seed(1)


def main(logdir: str) -> None:
    random = np.random.default_rng(1)
    memory = [{"state": [i, i + 1], "action": i % 4, "reward": float(i)} for i in range(600_000)]
    model = tf.keras.Sequential([tf.keras.layers.Dense(256, "relu"), tf.keras.layers.Dense(4)])
    optimizer = tf.keras.optimizers.SGD(0.001)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    with tbslow.start(logdir):
        for i in range(STEPS):
            with tbslow.summary.step():
                chosen = [memory[k] for k in random.integers(0, len(memory), 64)]
                states = np.array([one["state"] for one in chosen], np.float32) / len(memory)
                rewards = np.array([[one["reward"]] * 4 for one in chosen], np.float32) / len(
                    memory
                )
                loss = train_step(tf.constant(states), tf.constant(rewards))
                memory.extend({"state": [i, k], "action": 0, "reward": 0.0} for k in range(200))
                if i % 40 == 39:
                    gc.collect()
    print("loss", float(loss))


if __name__ == "__main__":
    main(sys.argv[1])
