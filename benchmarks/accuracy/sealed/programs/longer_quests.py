"""REINFORCE for a treasure hunt on islands; the quests get longer as the agent gets better."""

import numpy as np
import tensorflow as tf

SIDE, AGENTS, MOVES = 9, 192, 5
STAGES = [(10, 34), (20, 34), (35, 34)]
rng = np.random.default_rng(50)


class Islands:
    """A grid for each agent: what can be walked on, treasures, and where it stands."""

    STEP = np.array([[0, 0], [0, 1], [0, -1], [1, 0], [-1, 0]])

    def __init__(self):
        self.land = rng.random((AGENTS, SIDE, SIDE)) < 0.8
        self.gold = rng.random((AGENTS, SIDE, SIDE)) < 0.15
        self.at = np.full((AGENTS, 2), SIDE // 2)
        self.rows = np.arange(AGENTS)

    def look(self):
        me = np.zeros((AGENTS, SIDE, SIDE), bool)
        me[self.rows, self.at[:, 0], self.at[:, 1]] = True
        return np.stack([self.land, self.gold, me], -1).astype("float32")

    def move(self, action):
        there = np.clip(self.at + self.STEP[action], 0, SIDE - 1)
        is_land = self.land[self.rows, there[:, 0], there[:, 1]]
        self.at = np.where(is_land[:, None], there, self.at)
        found = self.gold[self.rows, self.at[:, 0], self.at[:, 1]].copy()
        self.gold[self.rows, self.at[:, 0], self.at[:, 1]] = False
        return found - 0.02 * ~is_land


policy = tf.keras.Sequential(
    [
        tf.keras.Input((SIDE, SIDE, 3)),
        tf.keras.layers.Conv2D(24, 3, activation="relu"),
        tf.keras.layers.Conv2D(32, 3, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(128, activation="relu"),
        tf.keras.layers.Dense(MOVES),
    ]
)
optimizer = tf.keras.optimizers.Adam(7e-4)


@tf.function
def act(seen):
    return tf.random.categorical(policy(seen), 1)[:, 0]


@tf.function(
    input_signature=[
        tf.TensorSpec([None, SIDE, SIDE, 3]),
        tf.TensorSpec([None], tf.int64),
        tf.TensorSpec([None]),
    ]
)
def reinforce(seen, actions, advantage):
    with tf.GradientTape() as tape:
        logits = policy(seen, training=True)
        cost = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=logits)
        chance = tf.nn.softmax(logits)
        entropy = -tf.reduce_sum(chance * tf.math.log(chance + 1e-8), -1)
        loss = tf.reduce_mean(advantage * cost - 0.01 * entropy)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))


def quest(length):
    islands = Islands()
    seen, actions, rewards = [], [], []
    for _ in range(length):
        seen.append(islands.look())
        actions.append(act(seen[-1]).numpy())
        rewards.append(islands.move(actions[-1]))
    gain = np.array(rewards)
    for t in range(length - 2, -1, -1):
        gain[t] += 0.97 * gain[t + 1]
    advantage = (gain - gain.mean(1, keepdims=True)) / (gain.std(1, keepdims=True) + 1e-6)
    reinforce(
        np.concatenate(seen), np.concatenate(actions), advantage.reshape(-1).astype("float32")
    )
    return np.sum(rewards) / AGENTS


for length, quests in STAGES:
    found = [quest(length) for _ in range(quests)]
    print(f"quests of {length}: {np.mean(found[:5]):.2f} -> {np.mean(found[-5:]):.2f} treasures")
