"""A picker robot learns to find its shelf: DQN in a TF1-style session."""

import time

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

SIZE = 8
MOVES = np.array([[0, 1], [1, 0], [0, -1], [-1, 0]])
WALLS = {(2, 1), (2, 2), (2, 3), (5, 4), (5, 5), (5, 6), (3, 6)}


class Warehouse:
    def __init__(self, rng):
        self.rng = rng

    def _free_cell(self):
        while True:
            cell = tuple(int(v) for v in self.rng.integers(0, SIZE, 2))
            if cell not in WALLS:
                return cell

    def reset(self):
        self.pos, self.goal, self.t = self._free_cell(), self._free_cell(), 0
        return self.observe()

    def observe(self):
        o = np.zeros(4 * SIZE, np.float32)
        o[self.pos[0]] = o[SIZE + self.pos[1]] = 1.0
        o[2 * SIZE + self.goal[0]] = o[3 * SIZE + self.goal[1]] = 1.0
        return o

    def step(self, action):
        self.t += 1
        new = (self.pos[0] + int(MOVES[action][0]), self.pos[1] + int(MOVES[action][1]))
        if 0 <= new[0] < SIZE and 0 <= new[1] < SIZE and new not in WALLS:
            self.pos = new
        arrived = self.pos == self.goal
        return self.observe(), (1.0 if arrived else -0.02), arrived, self.t >= 40


class Ring:
    def __init__(self, capacity, width):
        self.s = np.zeros((capacity, width), np.float32)
        self.s2 = np.zeros((capacity, width), np.float32)
        self.a = np.zeros(capacity, np.int32)
        self.r = np.zeros(capacity, np.float32)
        self.d = np.zeros(capacity, np.float32)
        self.capacity, self.n = capacity, 0

    def put(self, s, a, r, s2, d):
        k = self.n % self.capacity
        self.s[k], self.a[k], self.r[k], self.s2[k], self.d[k] = s, a, r, s2, d
        self.n += 1

    def sample(self, rng, size):
        k = rng.integers(0, min(self.n, self.capacity), size)
        return self.s[k], self.a[k], self.r[k], self.s2[k], self.d[k]


def mlp(x, scope, widths=(128, 128), out=4):
    with tf.variable_scope(scope):
        for i, width in enumerate(widths + (out,)):
            w = tf.get_variable(
                f"w{i}", [x.shape[1], width], initializer=tf.glorot_uniform_initializer(seed=i)
            )
            b = tf.get_variable(f"b{i}", [width], initializer=tf.zeros_initializer())
            x = tf.matmul(x, w) + b
            if i < len(widths):
                x = tf.nn.relu(x)
    return x


class Agent:
    def __init__(self, width, gamma=0.95, lr=1e-3):
        self.s = tf.placeholder(tf.float32, [None, width])
        self.s2 = tf.placeholder(tf.float32, [None, width])
        self.a = tf.placeholder(tf.int32, [None])
        self.r = tf.placeholder(tf.float32, [None])
        self.d = tf.placeholder(tf.float32, [None])
        self.q = mlp(self.s, "online")
        q2 = mlp(self.s2, "target")
        self.best = tf.argmax(self.q, axis=1)
        backup = self.r + gamma * (1.0 - self.d) * tf.reduce_max(q2, axis=1)
        chosen = tf.reduce_sum(self.q * tf.one_hot(self.a, 4), axis=1)
        self.loss = tf.reduce_mean(tf.square(tf.stop_gradient(backup) - chosen))
        self.online_vars = tf.trainable_variables("online")
        self.target_vars = tf.trainable_variables("target")
        self.train_op = tf.train.AdamOptimizer(lr).minimize(self.loss, var_list=self.online_vars)
        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())
        self.refresh_target()

    def refresh_target(self):
        for src, dst in zip(self.online_vars, self.target_vars):
            self.sess.run(dst.assign(src))

    def act(self, obs):
        return int(self.sess.run(self.best, {self.s: obs[None]})[0])

    def learn(self, batch):
        feed = dict(zip((self.s, self.a, self.r, self.s2, self.d), batch))
        return self.sess.run([self.loss, self.train_op], feed)[0]


def main(steps=6500, warmup=500, refresh_every=40):
    rng = np.random.default_rng(0)
    tf.set_random_seed(0)
    env = Warehouse(rng)
    agent, memory = Agent(4 * SIZE), Ring(8000, 4 * SIZE)
    obs, total, returns, losses = env.reset(), 0.0, [], []
    began = time.time()
    for step in range(1, steps + 1):
        epsilon = max(0.05, 1.0 - step / 3000)
        action = int(rng.integers(4)) if rng.random() < epsilon else agent.act(obs)
        nxt, reward, done, timeout = env.step(action)
        memory.put(obs, action, reward, nxt, float(done))
        obs, total = nxt, total + reward
        if done or timeout:
            returns.append(total)
            obs, total = env.reset(), 0.0
        if step > warmup:
            losses.append(agent.learn(memory.sample(rng, 64)))
            if step % refresh_every == 0:
                agent.refresh_target()
        if step % 500 == 0:
            print(
                f"step {step:5d} eps {epsilon:.2f} return {np.mean(returns[-40:]):6.3f} "
                f"td {np.mean(losses[-300:]) if losses else float('nan'):.4f} "
                f"{time.time() - began:5.1f}s",
                flush=True,
            )


if __name__ == "__main__":
    main()
