"""REINFORCE on a pole: the better the policy, the longer its episodes."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)


class Pole:
    """Falls later and later, as it would with a policy that learns."""

    def __init__(self):
        self.skill = 12

    def play(self, policy):
        states, actions, s = [], [], rng.normal(size=4).astype("float32")
        for _ in range(int(rng.integers(self.skill // 2, self.skill + 8))):
            p = policy(s[None]).numpy()[0]
            a = int(rng.random() < p[0])
            states.append(s)
            actions.append(a)
            s = (0.95 * s + 0.1 * rng.normal(size=4) + (a - 0.5) * 0.01).astype("float32")
        self.skill = min(200, self.skill + 1)
        return np.array(states), np.array(actions, "float32")


policy = tf.keras.Sequential(
    [tf.keras.Input((4,)), tf.keras.layers.Dense(32, "tanh"), tf.keras.layers.Dense(1, "sigmoid")]
)
optimizer = tf.keras.optimizers.Adam(1e-2)


@tf.function(
    input_signature=[tf.TensorSpec((None, 4)), tf.TensorSpec((None,)), tf.TensorSpec((None,))]
)
def reinforce(states, actions, returns):
    with tf.GradientTape() as tape:
        p = policy(states)[:, 0]
        log_p = tf.math.log(tf.where(actions > 0.5, p, 1 - p) + 1e-6)
        loss = -tf.reduce_mean(log_p * returns)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))


env = Pole()
for episode in range(110):
    states, actions = env.play(policy)
    returns = np.cumsum(np.ones(len(states)))[::-1].astype("float32")
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    reinforce(states, actions, returns)
    if episode % 10 == 0:
        print("episode", episode, "length", len(states))
