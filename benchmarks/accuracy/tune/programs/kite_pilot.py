"""Teach a power kite to stay in the wind window with an actor and a critic."""

import numpy as np
import tensorflow as tf
import keras

FLEET = 16
LIMIT = 400
ROUNDS = 130
GAMMA = 0.99
CHUNK = 128


class KiteField:
    """A fleet of kites; each has azimuth, height, heading, line pull and gusts."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self, count):
        s = np.zeros((count, 5), np.float32)
        s[:, 0] = self.rng.uniform(-0.2, 0.2, count)
        s[:, 1] = self.rng.uniform(0.4, 0.6, count)
        s[:, 2] = self.rng.uniform(-0.2, 0.2, count)
        self.s = s
        return s.copy()

    def step(self, steer):
        a, h, d, p, g = self.s.T
        g = 0.95 * g + self.rng.normal(0, 0.02, len(a))
        d = d + 0.08 * steer + 0.4 * g * np.cos(a) + 0.12 * np.sin(d)
        a = a + 0.03 * np.sin(d)
        h = h + 0.02 * (np.cos(d) - 0.95)
        h = np.clip(h + 0.01 * (0.5 - h), 0, 1)
        p = np.cos(a) * h
        self.s = np.stack([a, h, d, p, g], 1).astype(np.float32)
        fell = (np.abs(a) > 0.8) | (np.abs(d) > 1.2) | (h < 0.05)
        return self.s.copy(), p.astype(np.float32), fell

    def keep(self, rows):
        self.s = self.s[rows]


def net(outputs):
    return keras.Sequential(
        [
            keras.Input((5,)),
            keras.layers.Dense(96, activation="tanh"),
            keras.layers.Dense(96, activation="tanh"),
            keras.layers.Dense(outputs),
        ]
    )


class Pilot:
    STEER = np.array([-1.0, 0.0, 1.0], np.float32)

    def __init__(self, seed):
        keras.utils.set_random_seed(seed)
        self.rng = np.random.default_rng(seed)
        self.actor, self.critic = net(3), net(1)
        self.variables = self.actor.trainable_variables + self.critic.trainable_variables
        self.optimizer = keras.optimizers.Adam(4e-4)
        self.optimizer.build(self.variables)

    @tf.function(input_signature=[tf.TensorSpec([None, 5], tf.float32)])
    def policy(self, states):
        return tf.nn.softmax(self.actor(states))

    def act(self, states):
        p = self.policy(states).numpy()
        return (p.cumsum(1) < self.rng.random((len(p), 1))).sum(1).clip(0, 2)

    @tf.function(
        input_signature=[
            tf.TensorSpec([CHUNK, 5], tf.float32),
            tf.TensorSpec([CHUNK], tf.int32),
            tf.TensorSpec([CHUNK], tf.float32),
        ]
    )
    def learn(self, states, actions, returns):
        with tf.GradientTape() as tape:
            value = self.critic(states)[:, 0]
            logp = tf.nn.log_softmax(self.actor(states))
            chosen = tf.gather(logp, actions, batch_dims=1)
            gain = tf.stop_gradient(returns - value)
            gain = gain / (tf.math.reduce_std(gain) + 1e-6)
            entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, 1))
            loss = (
                -tf.reduce_mean(chosen * gain)
                + 0.5 * tf.reduce_mean(tf.square(returns - value))
                - 0.01 * entropy
            )
        self.optimizer.apply(tape.gradient(loss, self.variables))
        return loss


def fly(field, pilot):
    """One flight of the fleet, until each kite has fallen or time is over."""
    s = field.reset(FLEET)
    alive = np.arange(FLEET)
    flights = [([], [], []) for _ in range(FLEET)]
    for _ in range(LIMIT):
        a = pilot.act(s)
        after, r, fell = field.step(Pilot.STEER[a])
        for k, i in enumerate(alive):
            for store, item in zip(flights[i], (s[k], a[k], r[k])):
                store.append(item)
        stay = ~fell
        field.keep(stay)
        s, alive = after[stay], alive[stay]
        if not len(alive):
            break
    return flights


def discounted(rewards):
    out, total = np.zeros(len(rewards), np.float32), 0.0
    for i in range(len(rewards) - 1, -1, -1):
        total = rewards[i] + GAMMA * total
        out[i] = total
    return out * (1 - GAMMA)


def main():
    field, pilot = KiteField(4), Pilot(4)
    for n in range(1, ROUNDS + 1):
        flights = fly(field, pilot)
        states = np.concatenate([np.array(f[0]) for f in flights])
        actions = np.concatenate([np.array(f[1]) for f in flights]).astype(np.int32)
        returns = np.concatenate([discounted(f[2]) for f in flights])
        order = pilot.rng.permutation(len(states))
        for i in range(0, max(1, len(order) - CHUNK + 1), CHUNK):
            rows = np.resize(order[i : i + CHUNK], CHUNK)
            loss = pilot.learn(states[rows], actions[rows], returns[rows])
        if n % 10 == 0:
            length = np.mean([len(f[0]) for f in flights])
            print(f"round {n}: flight {length:.0f} loss {float(loss):.4f}", flush=True)


if __name__ == "__main__":
    main()
