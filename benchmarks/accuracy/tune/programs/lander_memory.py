"""Deep deterministic policy gradient for a soft landing in one dimension."""

import random

import numpy as np
import tensorflow as tf

GAMMA, TAU, BATCH, EPISODES = 0.98, 0.01, 64, 180


class Lander:
    """Height, speed, fuel; thrust between 0 and 1."""

    def reset(self):
        self.state = np.array([1.0 + random.random(), 0.0, 1.0], np.float32)
        self.ticks = 0
        return self.state.copy()

    def step(self, thrust):
        height, speed, fuel = self.state
        thrust = min(thrust, fuel * 10)
        speed += 0.05 * (2.0 * thrust - 1.0)
        height += 0.05 * speed
        fuel -= 0.01 * thrust
        self.ticks += 1
        done = height <= 0 or self.ticks >= 50
        reward = -abs(speed) * 10 if height <= 0 else -0.05
        self.state = np.array([height, speed, fuel], np.float32)
        return self.state.copy(), reward, done


def mlp(inputs, out, activation=None):
    return tf.keras.Sequential(
        [
            tf.keras.Input((inputs,)),
            tf.keras.layers.Dense(128, "relu"),
            tf.keras.layers.Dense(128, "relu"),
            tf.keras.layers.Dense(out, activation),
        ]
    )


actor, critic = mlp(3, 1, "sigmoid"), mlp(4, 1)
actor_old, critic_old = tf.keras.models.clone_model(actor), tf.keras.models.clone_model(critic)
actor_opt, critic_opt = tf.keras.optimizers.Adam(1e-4), tf.keras.optimizers.Adam(1e-3)


@tf.function
def act(state):
    return actor(state[None])[0, 0]


@tf.function
def learn(s, a, r, s2, alive):
    target = r + GAMMA * alive * critic_old(tf.concat([s2, actor_old(s2)], 1))
    with tf.GradientTape() as tape:
        critic_loss = tf.reduce_mean((critic(tf.concat([s, a], 1)) - target) ** 2)
    grads = tape.gradient(critic_loss, critic.trainable_variables)
    critic_opt.apply_gradients(zip(grads, critic.trainable_variables))
    with tf.GradientTape() as tape:
        actor_loss = -tf.reduce_mean(critic(tf.concat([s, actor(s)], 1)))
    grads = tape.gradient(actor_loss, actor.trainable_variables)
    actor_opt.apply_gradients(zip(grads, actor.trainable_variables))
    for slow, fast in ((actor_old, actor), (critic_old, critic)):
        for w_slow, w_fast in zip(slow.variables, fast.variables):
            w_slow.assign((1 - TAU) * w_slow + TAU * w_fast)
    return critic_loss


def sample(memory, n):
    transitions = np.array(memory, dtype=np.float32)
    rows = transitions[np.random.randint(0, len(transitions), n)]
    return rows[:, :3], rows[:, 3:4], rows[:, 4:5], rows[:, 5:8], rows[:, 8:]


world, memory = Lander(), []
for episode in range(EPISODES):
    state, done, total = world.reset(), False, 0.0
    while not done:
        thrust = float(act(tf.constant(state))) + random.gauss(0, 0.15)
        after, reward, done = world.step(float(np.clip(thrust, 0, 1)))
        memory.append([*state, thrust, reward, *after, 0.0 if done else 1.0])
        state, total = after, total + reward
        if len(memory) >= BATCH:
            learn(*map(tf.constant, sample(memory, BATCH)))
    if episode % 30 == 29:
        print(f"episode {episode + 1}: {world.ticks} ticks, return {total:.2f}")
