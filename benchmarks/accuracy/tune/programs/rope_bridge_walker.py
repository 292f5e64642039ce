"""REINFORCE: keep walkers upright on a swaying rope bridge; episodes get longer with skill."""

import numpy as np
import tensorflow as tf

WALKERS = 64
LIMIT = 400
UPDATES = 90
OBS = 5


class Bridge:
    """Walkers crossing at once; a walker who tips over falls out of the episode."""

    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.lean = self.rng.normal(0, 0.05, WALKERS)
        self.spin = np.zeros(WALKERS)
        self.sway = self.rng.uniform(0, 6.28, WALKERS)
        self.alive = np.ones(WALKERS, bool)
        return self.observe()

    def observe(self):
        return np.stack(
            [self.lean, self.spin, np.sin(self.sway), np.cos(self.sway), self.alive * 1.0], 1
        ).astype(np.float32)

    def step(self, push):
        self.sway += 0.15
        force = 1.6 * self.lean + 0.15 * np.sin(self.sway) + 0.9 * (push - 1)
        self.spin = 0.98 * self.spin + 0.06 * force + self.rng.normal(0, 0.01, WALKERS)
        self.lean = self.lean + 0.06 * self.spin
        self.alive &= np.abs(self.lean) < 0.6
        self.lean = np.clip(self.lean, -0.7, 0.7)
        self.spin = np.clip(self.spin, -3, 3)
        return self.observe()


def main():
    tf.keras.utils.set_random_seed(6)
    env, rng = Bridge(), np.random.default_rng(2)
    policy = tf.keras.Sequential(
        [
            tf.keras.Input((OBS,)),
            tf.keras.layers.Dense(128, activation="tanh"),
            tf.keras.layers.Dense(128, activation="tanh"),
            tf.keras.layers.Dense(3),
        ]
    )
    opt = tf.keras.optimizers.Adam(1e-3)
    opt.build(policy.trainable_variables)

    @tf.function(input_signature=[tf.TensorSpec((WALKERS, OBS))])
    def act(obs):
        return tf.random.categorical(policy(obs), 1, dtype=tf.int32)[:, 0]

    @tf.function(
        input_signature=[
            tf.TensorSpec((None, OBS)),
            tf.TensorSpec((None,), tf.int32),
            tf.TensorSpec((None,)),
        ]
    )
    def improve(obs, action, gain):
        with tf.GradientTape() as tape:
            logits = policy(obs)
            logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=action, logits=logits)
            p = tf.nn.softmax(logits)
            entropy = -tf.reduce_mean(tf.reduce_sum(p * tf.math.log(p + 1e-8), 1))
            loss = -tf.reduce_mean(logp * gain) - 0.01 * entropy
        grads, _ = tf.clip_by_global_norm(tape.gradient(loss, policy.trainable_variables), 1.0)
        opt.apply_gradients(zip(grads, policy.trainable_variables))
        return loss

    for update in range(1, UPDATES + 1):
        seen, done, up = [], [], []
        obs = env.reset()
        while env.alive.any() and len(seen) < LIMIT:
            alive = env.alive.copy()
            action = act(obs).numpy()
            seen.append(obs)
            done.append(action)
            obs = env.step(action)
            up.append(alive & env.alive)
        reward = np.array(up, np.float32)
        ret = np.zeros_like(reward)
        run = np.zeros(WALKERS, np.float32)
        for t in range(len(reward) - 1, -1, -1):
            run = reward[t] + 0.98 * run
            ret[t] = run
        mask = np.stack([o[:, 4] for o in seen]).ravel() > 0
        gain = ret.ravel()[mask]
        gain = (gain - gain.mean()) / (gain.std() + 1e-6)
        all_obs, all_act = np.concatenate(seen)[mask], np.concatenate(done)[mask]
        order = rng.permutation(len(gain))
        for part in np.array_split(order, max(1, len(order) // 256)):
            loss = improve(all_obs[part], all_act[part], gain[part])
        if update % 5 == 0:
            print(
                f"{update}: longest {len(reward)} mean life {reward.sum(0).mean():.0f} "
                f"loss {float(loss):.3f}"
            )


if __name__ == "__main__":
    main()
