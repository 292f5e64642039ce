"""A courier on a unicycle: policy gradient with a learned baseline.

64 riders run side by side in a numpy simulation. Riders fall early at first;
later on they stay up for the full 320 ticks, so rounds get longer.
"""

import numpy as np
import tensorflow as tf

RIDERS = 64
TICKS = 320
ROUNDS = 100
PIECES = (40, 80, 160, 320)  # trajectories are cut or padded to one of these


class Street:
    """Inverted pendulum on a wheel with gusts."""

    dt = 0.02

    def __init__(self, n, seed=0):
        self.n = n
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.s = self.rng.uniform(-0.05, 0.05, (self.n, 4)).astype("float32")
        self.up = np.ones(self.n, bool)
        return self.s.copy()

    def tick(self, push):
        x, v, a, w = self.s.T
        gust = self.rng.normal(0, 0.3, self.n)
        w = w + self.dt * (9.8 * np.sin(a) - push * np.cos(a) + gust)
        a = a + self.dt * w
        v = v + self.dt * (push - 0.05 * v)
        x = x + self.dt * v
        self.s = np.stack([x, v, a, w], 1).astype("float32")
        self.up &= (np.abs(a) < 0.35) & (np.abs(x) < 3.0)
        return self.s.copy(), self.up.copy()


def network(outputs, name):
    k = tf.keras
    return k.Sequential(
        [
            k.Input((4,)),
            k.layers.Dense(64, activation="tanh"),
            k.layers.Dense(64, activation="tanh"),
            k.layers.Dense(outputs),
        ],
        name=name,
    )


class Courier:
    pushes = np.array([-5.0, -1.5, 1.5, 5.0], "float32")

    def __init__(self):
        self.policy = network(len(self.pushes), "policy")
        self.value = network(1, "value")
        self.popt = tf.keras.optimizers.Adam(3e-3)
        self.vopt = tf.keras.optimizers.Adam(5e-3)
        self.popt.build(self.policy.trainable_variables)
        self.vopt.build(self.value.trainable_variables)

    @tf.function(input_signature=[tf.TensorSpec([RIDERS, 4], tf.float32)])
    def act(self, s):
        return tf.random.categorical(self.policy(s), 1, dtype=tf.int32)[:, 0]

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, RIDERS, 4], tf.float32),
            tf.TensorSpec([None, RIDERS], tf.int32),
            tf.TensorSpec([None, RIDERS], tf.float32),
            tf.TensorSpec([None, RIDERS], tf.float32),
        ]
    )
    def learn(self, s, a, ret, mask):
        flat = tf.reshape(s, [-1, 4])
        a, ret, mask = tf.reshape(a, [-1]), tf.reshape(ret, [-1]), tf.reshape(mask, [-1])
        n = tf.reduce_sum(mask)
        with tf.GradientTape() as vt:
            v = self.value(flat)[:, 0]
            vloss = tf.reduce_sum(mask * tf.square(v - ret)) / n
        adv = (ret - v) * mask
        adv = adv / (tf.sqrt(tf.reduce_sum(adv * adv) / n) + 1e-6)
        with tf.GradientTape() as pt:
            logp = tf.nn.log_softmax(self.policy(flat))
            chosen = tf.gather(logp, a, batch_dims=1)
            entropy = -tf.reduce_sum(tf.exp(logp) * logp, -1)
            ploss = -tf.reduce_sum(mask * (chosen * adv + 0.01 * entropy)) / n
        pg = pt.gradient(ploss, self.policy.trainable_variables)
        vg = vt.gradient(vloss, self.value.trainable_variables)
        self.popt.apply_gradients(zip(pg, self.policy.trainable_variables))
        self.vopt.apply_gradients(zip(vg, self.value.trainable_variables))
        return vloss


def play(courier, street):
    s = street.reset()
    states, actions, alive = [], [], []
    up = np.ones(RIDERS, bool)
    for _ in range(TICKS):
        a = courier.act(s).numpy()
        states.append(s)
        actions.append(a)
        alive.append(up)
        s, up = street.tick(courier.pushes[a])
        if not up.any():
            break
    return np.array(states), np.array(actions), np.array(alive, "float32")


def discounted(alive, gamma=0.98):
    out = np.zeros_like(alive)
    acc = np.zeros(RIDERS, "float32")
    for t in range(len(alive) - 1, -1, -1):
        acc = alive[t] * (1.0 + gamma * acc)
        out[t] = acc
    return out / 20.0


def pad(x, n):
    return np.concatenate([x, np.zeros((n - len(x),) + x.shape[1:], x.dtype)]) if len(x) < n else x


def main():
    tf.keras.utils.set_random_seed(2)
    courier, street = Courier(), Street(RIDERS, 2)
    for r in range(1, ROUNDS + 1):
        s, a, alive = play(courier, street)
        ret = discounted(alive)
        n = next(p for p in PIECES if p >= len(s))
        s, a, ret, mask = (pad(z, n) for z in (s, a, ret, alive))
        for _ in range(6 if r < 10 else 3):
            vloss = courier.learn(s, a, ret, mask)
        if r % 5 == 0:
            print(
                f"round {r:3d}  mean ticks {alive.sum(0).mean():6.1f}  longest {len(alive):3d}  "
                f"value loss {float(vloss):.3f}"
            )


if __name__ == "__main__":
    main()
