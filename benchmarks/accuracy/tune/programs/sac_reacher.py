"""Soft actor-critic for a two-link arm; training can be continued after an interruption."""

import pickle

import numpy as np
import tensorflow as tf

OBS, ACT, CAPACITY, BATCH = 8, 2, 400_000, 128
rng = np.random.default_rng(12)


class Reacher:
    def reset(self):
        self.joints, self.speed = rng.uniform(-3, 3, 2), np.zeros(2)
        self.goal = rng.uniform(-1.2, 1.2, 2)
        self.t = 0
        return self.observe()

    def tip(self):
        angles = self.joints.cumsum()
        return np.array([np.cos(angles).sum(), np.sin(angles).sum()])

    def observe(self):
        parts = [np.sin(self.joints), np.cos(self.joints), self.speed, self.goal - self.tip()]
        return np.concatenate(parts).astype(np.float32)

    def step(self, torque):
        self.speed = 0.9 * self.speed + 0.2 * torque
        self.joints = self.joints + 0.2 * self.speed
        self.t += 1
        return self.observe(), -np.linalg.norm(self.goal - self.tip()), self.t >= 25


def mlp(inputs, outputs):
    layers = [tf.keras.layers.Dense(256, "relu") for _ in range(2)]
    return tf.keras.Sequential([tf.keras.Input((inputs,)), *layers, tf.keras.layers.Dense(outputs)])


class Replay(tf.train.experimental.PythonState):
    """Transitions of the past; a checkpoint has them, too, so that nothing is lost."""

    def __init__(self, width):
        super().__init__()
        self.rows = np.zeros((CAPACITY, width), np.float32)
        self.count = 0

    def add(self, row):
        self.rows[self.count % CAPACITY] = row
        self.count += 1

    def sample(self):
        return tf.constant(self.rows[rng.integers(0, min(self.count, CAPACITY), BATCH)])

    def serialize(self):
        return pickle.dumps((self.rows, self.count))

    def deserialize(self, text):
        self.rows, self.count = pickle.loads(text)


actor, alpha = mlp(OBS, 2 * ACT), 0.05
critics = [mlp(OBS + ACT, 1) for _ in range(2)]
targets = [tf.keras.models.clone_model(c) for c in critics]
actor_opt, critic_opt = tf.keras.optimizers.Adam(3e-4), tf.keras.optimizers.Adam(1e-3)
critic_weights = critics[0].trainable_variables + critics[1].trainable_variables
replay = Replay(2 * OBS + ACT + 1)


def propose(obs):
    mean, log_std = tf.split(tf.clip_by_value(actor(obs), -4.0, 2.0), 2, axis=1)
    noise = tf.random.normal(tf.shape(mean))
    action = tf.tanh(mean + tf.exp(log_std) * noise)
    logp = -0.5 * noise**2 - log_std - tf.math.log(1 - action**2 + 1e-5)
    return action, tf.reduce_sum(logp, 1, keepdims=True)


@tf.function
def act(obs):
    return propose(obs[None])[0][0]


@tf.function
def learn(rows):
    s, a, r, s2 = tf.split(rows, [OBS, ACT, 1, OBS], axis=1)
    a2, logp2 = propose(s2)
    old = tf.minimum(*[t(tf.concat([s2, a2], 1)) for t in targets])
    goal = r + 0.95 * (old - alpha * logp2)
    with tf.GradientTape() as tape:
        loss = sum(tf.reduce_mean((c(tf.concat([s, a], 1)) - goal) ** 2) for c in critics)
    critic_opt.apply_gradients(zip(tape.gradient(loss, critic_weights), critic_weights))
    with tf.GradientTape() as tape:
        new, logp = propose(s)
        actor_loss = tf.reduce_mean(alpha * logp - critics[0](tf.concat([s, new], 1)))
    own = actor.trainable_variables
    actor_opt.apply_gradients(zip(tape.gradient(actor_loss, own), own))
    for t, c in zip(targets, critics):
        for slow, fast in zip(t.variables, c.variables):
            slow.assign_add(0.01 * (fast - slow))
    return loss


checkpoint = tf.train.Checkpoint(
    actor=actor, critics=critics, actor_opt=actor_opt, critic_opt=critic_opt, replay=replay
)
manager = tf.train.CheckpointManager(checkpoint, "checkpoints", max_to_keep=3)
checkpoint.restore(manager.latest_checkpoint)
env = Reacher()
for episode in range(90):
    obs, done, total = env.reset(), False, 0.0
    while not done:
        action = act(tf.constant(obs)).numpy()
        after, reward, done = env.step(action)
        replay.add(np.concatenate([obs, action, [reward], after]).astype(np.float32))
        obs, total = after, total + reward
        if replay.count > 4 * BATCH:
            loss = learn(replay.sample())
    manager.save()
    if episode % 20 == 19:
        print(f"episode {episode + 1} return {total:.2f}")
