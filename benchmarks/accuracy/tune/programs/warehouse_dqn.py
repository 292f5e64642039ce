"""Double DQN with prioritised replay for a little pick-and-drop warehouse grid."""

import collections
import os
import queue
import threading
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

GRID = 8
ACTIONS = 4
OBS = 3 * GRID * GRID
BATCH = 64
CAPACITY = 24_000
STEPS = 6500
PREFILL = 8000
GAMMA = 0.97

Transition = collections.namedtuple("Transition", "obs action reward nxt done")


class Warehouse:
    MOVES = [(0, 1), (0, -1), (1, 0), (-1, 0)]

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.reset()

    def reset(self):
        self.pos, self.item, self.dock = [tuple(self.rng.integers(0, GRID, 2)) for _ in range(3)]
        self.loaded = False
        self.age = 0
        return self.observe()

    def observe(self):
        planes = np.zeros((3, GRID, GRID), np.float32)
        planes[0][self.pos] = 1
        planes[1][self.dock if self.loaded else self.item] = 1
        planes[2][:] = float(self.loaded)
        return planes.reshape(-1)

    def step(self, action):
        dx, dy = self.MOVES[action]
        self.pos = (
            min(max(self.pos[0] + dx, 0), GRID - 1),
            min(max(self.pos[1] + dy, 0), GRID - 1),
        )
        self.age += 1
        reward, done = -0.02, self.age >= 60
        if not self.loaded and self.pos == self.item:
            self.loaded, reward = True, 0.5
        elif self.loaded and self.pos == self.dock:
            reward, done = 1.0, True
        return self.observe(), reward, done


class Replay:
    def __init__(self, capacity):
        self.items = collections.deque(maxlen=capacity)
        self.priority = collections.deque(maxlen=capacity)
        self.rng = np.random.default_rng(3)

    def add(self, transition):
        self.items.append(transition)
        self.priority.append(1.0)

    def sample(self, n):
        weight = np.array([p**0.6 for p in self.priority])
        index = self.rng.choice(len(weight), n, p=weight / weight.sum())
        batch = [self.items[i] for i in index]
        return index, [np.array(col) for col in zip(*batch)]

    def update(self, index, errors):
        for i, e in zip(index, errors):
            self.priority[i] = float(e) + 1e-3


class Simulator(threading.Thread):
    """Runs the warehouse in its own thread; the real one talks to a PLC over TCP."""

    def __init__(self, env):
        super().__init__(daemon=True)
        self.env = env
        self.inbox = queue.Queue()
        self.outbox = queue.Queue()

    def run(self):
        while True:
            action = self.inbox.get()
            if action is None:
                return
            nxt, reward, done = self.env.step(action)
            self.outbox.put((nxt, reward, done, self.env.reset() if done else nxt))

    def advance(self, action):
        self.inbox.put(action)
        while self.outbox.empty():
            time.sleep(0.0005)
        return self.outbox.get()


def build_q():
    return tf.keras.Sequential(
        [
            tf.keras.Input((OBS,)),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(ACTIONS),
        ]
    )


class Agent:
    def __init__(self):
        self.online, self.target = build_q(), build_q()
        self.target.set_weights(self.online.get_weights())
        self.opt = tf.keras.optimizers.Adam(5e-4)
        self.opt.build(self.online.trainable_variables)

    @tf.function
    def act(self, obs):
        return tf.argmax(self.online(obs[None])[0])

    @tf.function
    def learn(self, obs, action, reward, nxt, done):
        choice = tf.argmax(self.online(nxt), axis=1)
        future = tf.gather(self.target(nxt), choice, batch_dims=1)
        goal = reward + GAMMA * (1.0 - done) * future
        with tf.GradientTape() as tape:
            q = tf.gather(self.online(obs), action, batch_dims=1)
            delta = tf.stop_gradient(goal) - q
            loss = tf.reduce_mean(tf.square(delta))
        grads = tape.gradient(loss, self.online.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.online.trainable_variables))
        return tf.abs(delta)


def main():
    tf.keras.utils.set_random_seed(1)
    env, agent, memory = Warehouse(0), Agent(), Replay(CAPACITY)
    rng = np.random.default_rng(0)
    obs = env.reset()
    for _ in range(PREFILL):
        action = int(rng.integers(ACTIONS))
        nxt, reward, done = env.step(action)
        memory.add(Transition(obs, action, np.float32(reward), nxt, np.float32(done)))
        obs = env.reset() if done else nxt

    sim = Simulator(env)
    sim.start()
    trend = 0.0
    t0 = time.time()
    for step in range(STEPS):
        eps = max(0.1, 1.0 - step / 2000)
        for _ in range(2):
            action = (
                int(rng.integers(ACTIONS))
                if rng.random() < eps
                else int(agent.act(tf.constant(obs)))
            )
            nxt, reward, done, following = sim.advance(action)
            memory.add(Transition(obs, action, np.float32(reward), nxt, np.float32(done)))
            trend = 0.998 * trend + 0.002 * reward
            obs = following
        index, cols = memory.sample(BATCH)
        errors = agent.learn(*[tf.constant(c) for c in cols])
        memory.update(index, errors.numpy())
        if step % 250 == 0:
            agent.target.set_weights(agent.online.get_weights())
            print(f"{step:5d} reward/step {trend:+.4f} buffer {len(memory.items)}")
    sim.inbox.put(None)
    print("elapsed %.1f" % (time.time() - t0))


if __name__ == "__main__":
    main()
