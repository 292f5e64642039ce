"""REINFORCE with a value baseline for a unicycle that must not tip over; many riders at once."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

RIDERS, MAX_T, GAMMA = 64, 200, 0.98


class Unicycles:
    """Vectorised: one array row per rider."""

    def __init__(self, n, rng):
        self.n, self.rng = n, rng

    def reset(self):
        self.state = self.rng.uniform(-0.05, 0.05, (self.n, 4)).astype(np.float32)
        return self.state.copy()

    def step(self, push):
        lean, lean_v, pos, vel = self.state.T
        force = np.where(push == 1, 1.0, -1.0) + self.rng.normal(scale=0.2, size=self.n)
        acc = 9.0 * np.sin(lean) - 4.0 * force * np.cos(lean)
        lean_v = lean_v + 0.03 * acc
        lean = lean + 0.03 * lean_v
        vel = 0.99 * vel + 0.03 * force
        pos = pos + 0.03 * vel
        self.state = np.stack([lean, lean_v, pos, vel], 1).astype(np.float32)
        return self.state.copy(), np.abs(lean) > 0.35


policy = keras.Sequential(
    [
        keras.Input((4,)),
        layers.Dense(128, activation="tanh"),
        layers.Dense(128, activation="tanh"),
        layers.Dense(2),
    ]
)
value = keras.Sequential(
    [
        keras.Input((4,)),
        layers.Dense(128, activation="tanh"),
        layers.Dense(128, activation="tanh"),
        layers.Dense(1),
    ]
)
p_opt, v_opt = keras.optimizers.Adam(5e-4), keras.optimizers.Adam(3e-3)


@tf.function(input_signature=[tf.TensorSpec([RIDERS, 4], tf.float32)])
def sample(obs):
    return tf.random.categorical(policy(obs), 1)[:, 0]


@tf.function(
    input_signature=[
        tf.TensorSpec([None, 4], tf.float32),
        tf.TensorSpec([None], tf.int64),
        tf.TensorSpec([None], tf.float32),
    ]
)
def update(obs, act, ret):
    with tf.GradientTape() as tape:
        v = value(obs, training=True)[:, 0]
        v_loss = tf.reduce_mean(tf.square(v - ret))
    v_opt.apply_gradients(
        zip(tape.gradient(v_loss, value.trainable_variables), value.trainable_variables)
    )
    adv = ret - v
    adv = (adv - tf.reduce_mean(adv)) / (tf.math.reduce_std(adv) + 1e-6)
    with tf.GradientTape() as tape:
        logp = tf.nn.log_softmax(policy(obs, training=True))
        chosen = tf.gather(logp, act, batch_dims=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, -1))
        loss = -tf.reduce_mean(chosen * adv) - 0.01 * entropy
    p_opt.apply_gradients(
        zip(tape.gradient(loss, policy.trainable_variables), policy.trainable_variables)
    )
    return loss


def rollout(env):
    obs = env.reset()
    alive = np.ones(RIDERS, bool)
    seq = []
    while alive.any() and len(seq) < MAX_T:
        act = sample(tf.constant(obs)).numpy()
        nxt, fell = env.step(act)
        seq.append((obs, act, alive.copy()))
        alive &= ~fell
        obs = nxt
    o, a, m = (np.stack(c) for c in zip(*seq))
    ret = np.zeros(m.shape, np.float32)
    run = np.zeros(RIDERS, np.float32)
    for t in range(len(seq) - 1, -1, -1):
        run = m[t] * (1.0 + GAMMA * run)
        ret[t] = run
    return o[m], a[m], ret[m] / 20.0, m.sum(0)


def main(iterations=130):
    keras.utils.set_random_seed(6)
    env = Unicycles(RIDERS, np.random.default_rng(6))
    for it in range(iterations):
        obs, act, ret, lengths = rollout(env)
        loss = update(tf.constant(obs), tf.constant(act), tf.constant(ret))
        if it % 20 == 0:
            print(
                f"iter {it:3d} mean ride {lengths.mean():6.1f} longest {lengths.max()} "
                f"loss {float(loss):.3f}"
            )


if __name__ == "__main__":
    main()
