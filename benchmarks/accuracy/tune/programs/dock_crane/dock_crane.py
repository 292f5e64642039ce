"""Double Q-learning for the trolley of a quay crane."""

import numpy as np
import tensorflow as tf
import keras

from experience import Experience, Move
from harbour import Quay

MOVES = 9500
BATCH = 64
BEGIN = 500
GAMMA = 0.98


def network():
    return keras.Sequential(
        [
            keras.Input((Quay.SIZE,)),
            keras.layers.Dense(128, activation="relu"),
            keras.layers.Dense(128, activation="relu"),
            keras.layers.Dense(len(Quay.ACTIONS)),
        ]
    )


class Operator:
    def __init__(self, seed):
        keras.utils.set_random_seed(seed)
        self.online, self.target = network(), network()
        self.target.set_weights(self.online.get_weights())
        self.optimizer = keras.optimizers.Adam(1e-3)
        self.optimizer.build(self.online.trainable_variables)
        self.rng = np.random.default_rng(seed)

    @tf.function(input_signature=[tf.TensorSpec([None, Quay.SIZE], tf.float32)])
    def best(self, states):
        return tf.argmax(self.online(states), axis=-1)

    def choose(self, state, explore):
        if self.rng.random() < explore:
            return int(self.rng.integers(len(Quay.ACTIONS)))
        return int(self.best(state[None])[0])

    @tf.function
    def learn(self, state, action, reward, after, done, scale):
        pick = tf.argmax(self.online(after), -1)
        future = tf.gather(self.target(after), pick, batch_dims=1)
        goal = reward + GAMMA * (1.0 - done) * future
        with tf.GradientTape() as tape:
            q = tf.gather(self.online(state), action, batch_dims=1)
            error = goal - q
            loss = tf.reduce_mean(
                scale * tf.where(tf.abs(error) < 1, 0.5 * error**2, tf.abs(error) - 0.5)
            )
        grads = tape.gradient(loss, self.online.trainable_variables)
        self.optimizer.apply(grads)
        for t, o in zip(self.target.variables, self.online.variables):
            t.assign(0.995 * t + 0.005 * o)
        return loss, error


def main():
    quay = Quay(seed=1)
    operator = Operator(seed=1)
    memory = Experience(room=20000, seed=1)
    state, total, totals, loss = quay.reset(), 0.0, [], 0.0
    for i in range(1, MOVES + 1):
        explore = max(0.05, 1.0 - i / 4000)
        action = operator.choose(state, explore)
        after, reward, done, late = quay.step(action)
        memory.add(Move(state, np.int64(action), reward, after, np.float32(done)))
        total += float(reward)
        state = after
        if done or late:
            totals.append(total)
            state, total = quay.reset(), 0.0
        if i > BEGIN:
            rows, moves, scale = memory.draw(BATCH)
            loss, errors = operator.learn(*moves, scale)
            memory.update(rows, errors.numpy())
        if i % 500 == 0:
            print(
                f"move {i}: return {np.mean(totals[-10:]):.2f} loss {float(loss):.4f}", flush=True
            )


if __name__ == "__main__":
    main()
