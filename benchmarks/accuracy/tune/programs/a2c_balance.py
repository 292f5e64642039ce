"""Advantage actor-critic on a balance board; one update after each episode, however long it was."""

import collections

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(29)
LIMIT = 160


class Board:
    def reset(self):
        self.x = rng.uniform(-0.05, 0.05, 4)
        self.t = 0
        return self.x.astype(np.float32)

    def step(self, action):
        position, speed, tilt, spin = self.x
        force = 8.0 if action else -8.0
        pull = (force + 0.05 * spin**2 * np.sin(tilt)) / 1.1
        turn = (9.8 * np.sin(tilt) - np.cos(tilt) * pull) / (
            0.5 * (4 / 3 - 0.1 * np.cos(tilt) ** 2)
        )
        push = pull - 0.05 * turn * np.cos(tilt) / 1.1
        self.x = self.x + 0.02 * np.array([speed, push, spin, turn])
        self.t += 1
        fell = abs(self.x[0]) > 2.4 or abs(self.x[2]) > 0.21
        return self.x.astype(np.float32), 1.0, fell or self.t >= LIMIT


class ActorCritic(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.common = tf.keras.layers.Dense(128, activation="relu")
        self.actor = tf.keras.layers.Dense(2)
        self.critic = tf.keras.layers.Dense(1)

    def call(self, state):
        x = self.common(state)
        return self.actor(x), self.critic(x)[:, 0]


model = ActorCritic()
model.build((None, 4))
optimizer = tf.keras.optimizers.Adam(5e-3)


@tf.function(input_signature=[tf.TensorSpec([1, 4], tf.float32)])
def choose(state):
    logits, _ = model(state)
    return tf.random.categorical(logits, 1)[0, 0]


@tf.function(
    input_signature=[
        tf.TensorSpec([None, 4], tf.float32),
        tf.TensorSpec([None], tf.int32),
        tf.TensorSpec([None], tf.float32),
    ]
)
def update(states, actions, returns):
    with tf.GradientTape() as tape:
        logits, values = model(states)
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(actions, logits)
        advantage = tf.stop_gradient(returns - values)
        critic_loss = tf.reduce_sum(tf.keras.losses.huber(returns[:, None], values[:, None]))
        loss = critic_loss - tf.reduce_sum(logp * advantage)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def discounted(rewards, gamma=0.99):
    total, out = 0.0, np.zeros(len(rewards), np.float32)
    for t in reversed(range(len(rewards))):
        total = rewards[t] + gamma * total
        out[t] = total
    return (out - out.mean()) / (out.std() + 1e-6)


board, recent = Board(), collections.deque(maxlen=50)
for episode in range(520):
    states, actions, rewards = [], [], []
    state, done = board.reset(), False
    while not done:
        action = int(choose(tf.constant(state[None])))
        states.append(state)
        actions.append(action)
        state, reward, done = board.step(action)
        rewards.append(reward)
    update(tf.constant(np.stack(states)), tf.constant(actions), tf.constant(discounted(rewards)))
    recent.append(len(rewards))
    if episode % 40 == 39:
        print(f"episode {episode + 1}: mean length {np.mean(recent):.1f}")
