"""TD3 on a batch of simulated two-link arms that have to reach random points."""

import time

import numpy as np
import tensorflow as tf

SEED = 11
NUM_ENVS = 48
ITERATIONS = 6600
WARMUP_ITERATIONS = 60
BATCH_SIZE = 256
GAMMA, TAU = 0.97, 0.005
POLICY_DELAY = 2
EVAL_EVERY = 1100
OBS, ACT = 10, 2

np.random.seed(SEED)
tf.keras.utils.set_random_seed(SEED)


class ArmVecEnv:
    """Two joints with velocity control; all arms are advanced with one set of array ops."""

    def __init__(self, n, horizon=50):
        self.n, self.horizon = n, horizon
        self.angle = np.zeros((n, 2), np.float32)
        self.vel = np.zeros((n, 2), np.float32)
        self.goal = np.zeros((n, 2), np.float32)
        self.t = np.random.randint(0, horizon, n)
        self._reset(np.ones(n, bool))

    def _reset(self, mask):
        k = int(mask.sum())
        if k == 0:
            return
        self.angle[mask] = np.random.uniform(-np.pi, np.pi, (k, 2))
        self.vel[mask] = 0.0
        r, phi = np.random.uniform(0.3, 1.8, k), np.random.uniform(-np.pi, np.pi, k)
        self.goal[mask] = np.stack([r * np.cos(phi), r * np.sin(phi)], 1)

    def tip(self):
        a, b = self.angle[:, 0], self.angle.sum(1)
        return np.stack([np.cos(a) + np.cos(b), np.sin(a) + np.sin(b)], 1)

    def observe(self):
        return np.concatenate(
            [np.cos(self.angle), np.sin(self.angle), self.vel, self.goal, self.goal - self.tip()],
            axis=1,
        ).astype(np.float32)

    def step(self, action):
        self.vel = 0.8 * self.vel + 0.15 * action
        self.angle += self.vel
        dist = np.linalg.norm(self.goal - self.tip(), axis=1)
        reward = -dist - 0.02 * np.square(action).sum(1)
        self.t += 1
        next_obs = self.observe()
        over = self.t >= self.horizon
        self._reset(over)
        self.t[over] = 0
        return next_obs, reward.astype(np.float32)


class ReplayBuffer:
    def __init__(self, capacity):
        self.capacity, self.size, self.head = capacity, 0, 0
        self.obs = np.zeros((capacity, OBS), np.float32)
        self.act = np.zeros((capacity, ACT), np.float32)
        self.rew = np.zeros((capacity,), np.float32)
        self.nxt = np.zeros((capacity, OBS), np.float32)

    def add(self, obs, act, rew, nxt):
        n = len(obs)
        where = (self.head + np.arange(n)) % self.capacity
        self.obs[where], self.act[where] = obs, act
        self.rew[where], self.nxt[where] = rew, nxt
        self.head = (self.head + n) % self.capacity
        self.size = min(self.size + n, self.capacity)

    def sample(self, batch_size):
        idx = np.random.choice(self.size, batch_size, replace=False)
        return self.obs[idx], self.act[idx], self.rew[idx], self.nxt[idx]


def mlp(inputs, outputs, activation=None):
    return tf.keras.Sequential(
        [
            tf.keras.Input((inputs,)),
            tf.keras.layers.Dense(256, activation="relu"),
            tf.keras.layers.Dense(256, activation="relu"),
            tf.keras.layers.Dense(outputs, activation=activation),
        ]
    )


actor, actor_target = mlp(OBS, ACT, "tanh"), mlp(OBS, ACT, "tanh")
critics = [mlp(OBS + ACT, 1) for _ in range(2)]
critic_targets = [mlp(OBS + ACT, 1) for _ in range(2)]
actor_target.set_weights(actor.get_weights())
for c, t in zip(critics, critic_targets):
    t.set_weights(c.get_weights())
critic_vars = critics[0].trainable_variables + critics[1].trainable_variables
actor_opt = tf.keras.optimizers.Adam(3e-4)
critic_opt = tf.keras.optimizers.Adam(1e-3)
actor_opt.build(actor.trainable_variables)
critic_opt.build(critic_vars)


@tf.function
def act(obs, noise):
    action = actor(obs)
    return tf.clip_by_value(action + noise * tf.random.normal(tf.shape(action)), -1.0, 1.0)


@tf.function
def update_critics(obs, action, reward, nxt):
    smooth = tf.clip_by_value(0.2 * tf.random.normal(tf.shape(action)), -0.5, 0.5)
    next_action = tf.clip_by_value(actor_target(nxt) + smooth, -1.0, 1.0)
    next_in = tf.concat([nxt, next_action], 1)
    q_next = tf.minimum(critic_targets[0](next_in), critic_targets[1](next_in))[:, 0]
    backup = tf.stop_gradient(reward + GAMMA * q_next)
    with tf.GradientTape() as tape:
        x = tf.concat([obs, action], 1)
        loss = sum(tf.reduce_mean(tf.square(backup - c(x)[:, 0])) for c in critics)
    critic_opt.apply_gradients(zip(tape.gradient(loss, critic_vars), critic_vars))
    return loss


@tf.function
def update_actor_and_targets(obs):
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(critics[0](tf.concat([obs, actor(obs)], 1)))
    grads = tape.gradient(loss, actor.trainable_variables)
    actor_opt.apply_gradients(zip(grads, actor.trainable_variables))
    for net, target in [(actor, actor_target), *zip(critics, critic_targets)]:
        for w, tw in zip(net.trainable_variables, target.trainable_variables):
            tw.assign_add(TAU * (w - tw))


def evaluate(env_count=128):
    env = ArmVecEnv(env_count)
    env.t[:] = 0
    total = np.zeros(env_count)
    obs = env.observe()
    for _ in range(env.horizon):
        obs, reward = env.step(act(obs, tf.constant(0.0)).numpy())
        total += reward
    return total.mean()


env = ArmVecEnv(NUM_ENVS)
buffer = ReplayBuffer(capacity=NUM_ENVS * ITERATIONS)
explore = tf.constant(0.15)
started, critic_loss = time.time(), 0.0
for it in range(1, ITERATIONS + 1):
    obs = env.observe()
    if it <= WARMUP_ITERATIONS:
        action = np.random.uniform(-1, 1, (NUM_ENVS, ACT)).astype(np.float32)
    else:
        action = act(obs, explore).numpy()
    nxt, reward = env.step(action)
    buffer.add(obs, action, reward, nxt)
    if it <= WARMUP_ITERATIONS:
        continue
    b_obs, b_act, b_rew, b_nxt = buffer.sample(BATCH_SIZE)
    critic_loss = update_critics(b_obs, b_act, b_rew, b_nxt)
    if it % POLICY_DELAY == 0:
        update_actor_and_targets(b_obs)
    if it % EVAL_EVERY == 0:
        print(
            f"it {it} buffer {buffer.size} return {evaluate():.2f} "
            f"critic {float(critic_loss):.4f} {time.time() - started:.1f}s"
        )
