# Marble on a tilting board (labyrinth toy), REINFORCE with a baseline.
# First version called model.predict() for every marble in every step and took forever;
# after the answers: 256 boards side by side, and one tf.function call for all of them.
import os
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf

SEED = 9
N_BOARDS = 512
HORIZON_MIN, HORIZON_MAX = 16, 40
N_ITER = 30
EPOCHS_PER_ITER = 3
GAMMA = 0.97
ACTIONS = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]], np.float32)

tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


class Boards:
    """all boards at once, plain arrays"""

    def __init__(self, n):
        self.n = n
        self.holes = rng.uniform(-1, 1, (6, 2)).astype(np.float32)

    def reset(self):
        self.pos = rng.uniform(-0.9, 0.9, (self.n, 2)).astype(np.float32)
        self.vel = np.zeros((self.n, 2), np.float32)
        self.goal = rng.uniform(-0.5, 0.5, (self.n, 2)).astype(np.float32)
        return self.observe()

    def observe(self):
        rel = (self.holes[None] - self.pos[:, None]).reshape(self.n, -1)
        return np.concatenate([self.pos, self.vel, self.goal - self.pos, rel], axis=1)

    def step(self, action):
        self.vel = 0.9 * self.vel + 0.08 * ACTIONS[action]
        self.pos = np.clip(self.pos + self.vel, -1, 1)
        dist = np.linalg.norm(self.goal - self.pos, axis=1)
        hole = np.linalg.norm(self.holes[None] - self.pos[:, None], axis=2).min(1)
        return self.observe(), (-dist - 0.5 * (hole < 0.1)).astype(np.float32)


def make_net(n_in):
    inputs = tf.keras.Input((n_in,))
    h = tf.keras.layers.Dense(384, activation="tanh")(inputs)
    h = tf.keras.layers.Dense(384, activation="tanh")(h)
    return tf.keras.Model(
        inputs, [tf.keras.layers.Dense(len(ACTIONS))(h), tf.keras.layers.Dense(1)(h)]
    )


boards = Boards(N_BOARDS)
net = make_net(boards.reset().shape[1])
opt = tf.keras.optimizers.Adam(4e-4)
opt.build(net.trainable_variables)
obs_spec = tf.TensorSpec([None, net.input_shape[1]], tf.float32)


@tf.function(input_signature=[obs_spec])
def act(obs):
    logits, _ = net(obs)
    return tf.random.categorical(logits, 1)[:, 0]


@tf.function(
    input_signature=[obs_spec, tf.TensorSpec([None], tf.int64), tf.TensorSpec([None], tf.float32)]
)
def update(obs, action, ret):
    with tf.GradientTape() as tape:
        logits, value = net(obs, training=True)
        value = tf.squeeze(value, 1)
        adv = tf.stop_gradient(ret - value)
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=action, logits=logits)
        probs = tf.nn.softmax(logits)
        entropy = -tf.reduce_mean(tf.reduce_sum(probs * tf.nn.log_softmax(logits), 1))
        loss = (
            tf.reduce_mean(nll * adv)
            + 0.5 * tf.reduce_mean(tf.square(ret - value))
            - 0.01 * entropy
        )
    grads, _ = tf.clip_by_global_norm(tape.gradient(loss, net.trainable_variables), 1.0)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


def play(horizon):
    obs = boards.reset()
    observations, actions, rewards = [], [], []
    for _ in range(horizon):
        a = act(tf.constant(obs)).numpy()
        observations.append(obs)
        actions.append(a)
        obs, r = boards.step(a)
        rewards.append(r)
    returns = np.zeros((horizon, N_BOARDS), np.float32)
    acc = np.zeros(N_BOARDS, np.float32)
    for t in reversed(range(horizon)):
        acc = rewards[t] + GAMMA * acc
        returns[t] = acc
    return (
        np.concatenate(observations),
        np.concatenate(actions),
        returns.reshape(-1),
        float(np.mean(rewards)),
    )


for it in range(N_ITER):
    t0 = time.time()
    horizon = int(np.interp(it, [0, N_ITER - 1], [HORIZON_MIN, HORIZON_MAX]))
    obs, action, ret, score = play(horizon)
    ret = (ret - ret.mean()) / (ret.std() + 1e-6)
    for _ in range(EPOCHS_PER_ITER):
        order = rng.permutation(len(obs))
        for chunk in np.array_split(order, max(1, len(order) // 2048)):
            loss = update(
                tf.constant(obs[chunk]), tf.constant(action[chunk]), tf.constant(ret[chunk])
            )
    if it % 3 == 0 or it == N_ITER - 1:
        print(
            f"iter {it:3d} horizon {horizon:2d} reward {score:.3f} loss {float(loss):.3f} {time.time() - t0:.2f}s"
        )
