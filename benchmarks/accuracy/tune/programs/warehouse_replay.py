"""Double DQN with prioritized replay: a picker robot collects parcels in a warehouse grid."""

import collections
import random

import numpy as np
import tensorflow as tf

Transition = collections.namedtuple("Transition", "obs action reward next_obs done")

GRID = 8
N_ACTIONS = 4
N_ROBOTS = 8
BATCH = 64
GAMMA = 0.97
TRAIN_STEPS = 4500
MOVES = np.array([[0, 1], [0, -1], [1, 0], [-1, 0]])


class Warehouse:
    def __init__(self, rng):
        self.rng = rng
        self.reset()

    def reset(self):
        self.pos = self.rng.integers(0, GRID, size=2)
        self.parcel = self.rng.integers(0, GRID, size=2)
        self.t = 0
        return self.observe()

    def observe(self):
        return np.concatenate(
            [self.pos / GRID, self.parcel / GRID, (self.parcel - self.pos) / GRID, [self.t / 40.0]]
        ).astype(np.float32)

    def step(self, action):
        self.pos = np.clip(self.pos + MOVES[action], 0, GRID - 1)
        self.t += 1
        found = bool((self.pos == self.parcel).all())
        done = found or self.t >= 40
        return self.observe(), (1.0 if found else -0.02), done


class PrioritizedReplay:
    def __init__(self, capacity=100_000, alpha=0.6, beta=0.4, eps=1e-3):
        self.capacity = capacity
        self.alpha = alpha
        self.beta = beta
        self.eps = eps
        self.memory = []
        self.priorities = []
        self.max_priority = 1.0

    def __len__(self):
        return len(self.memory)

    def add(self, transition):
        if len(self.memory) >= self.capacity:
            self.memory.pop(0)
            self.priorities.pop(0)
        self.memory.append(transition)
        self.priorities.append(self.max_priority)

    def sample(self, n):
        scaled = [p**self.alpha for p in self.priorities]
        idx = random.choices(range(len(self.memory)), weights=scaled, k=n)
        probs = np.array([scaled[i] for i in idx]) / sum(scaled)
        weights = (len(self.memory) * probs) ** -self.beta
        batch = Transition(*zip(*[self.memory[i] for i in idx]))
        return idx, batch, (weights / weights.max()).astype(np.float32)

    def update(self, idx, errors):
        for i, e in zip(idx, errors):
            p = float(abs(e)) + self.eps
            self.priorities[i] = p
            self.max_priority = max(self.max_priority, p)


def q_network():
    return tf.keras.Sequential(
        [
            tf.keras.Input((7,)),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(N_ACTIONS),
        ]
    )


class Agent:
    def __init__(self):
        self.online = q_network()
        self.target = q_network()
        self.sync()
        self.optimizer = tf.keras.optimizers.Adam(5e-4)

    def sync(self):
        self.target.set_weights(self.online.get_weights())

    @tf.function
    def greedy(self, obs):
        return tf.argmax(self.online(obs), axis=1)

    @tf.function
    def learn(self, obs, action, reward, next_obs, done, weight):
        best = tf.argmax(self.online(next_obs), axis=1)
        future = tf.gather(self.target(next_obs), best, batch_dims=1)
        goal = reward + GAMMA * (1.0 - done) * future
        with tf.GradientTape() as tape:
            q = tf.gather(self.online(obs), action, batch_dims=1)
            error = goal - q
            loss = tf.reduce_mean(weight * tf.square(error))
        grads = tape.gradient(loss, self.online.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.online.trainable_variables))
        return error


def main():
    random.seed(0)
    tf.keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    robots = [Warehouse(rng) for _ in range(N_ROBOTS)]
    obs = np.stack([r.observe() for r in robots])
    agent, replay = Agent(), PrioritizedReplay()
    returns = collections.deque(maxlen=200)
    running = np.zeros(N_ROBOTS)
    for step in range(TRAIN_STEPS):
        epsilon = max(0.05, 1.0 - step / 1500)
        actions = agent.greedy(tf.constant(obs)).numpy()
        explore = rng.random(N_ROBOTS) < epsilon
        actions[explore] = rng.integers(0, N_ACTIONS, size=explore.sum())
        for k, robot in enumerate(robots):
            nxt, reward, done = robot.step(actions[k])
            replay.add(Transition(obs[k].copy(), actions[k], reward, nxt, float(done)))
            running[k] += reward
            if done:
                returns.append(running[k])
                running[k] = 0.0
                nxt = robot.reset()
            obs[k] = nxt
        if len(replay) < 4 * BATCH:
            continue
        idx, b, w = replay.sample(BATCH)
        error = agent.learn(
            tf.constant(np.stack(b.obs)),
            tf.constant(np.array(b.action, np.int64)),
            tf.constant(np.array(b.reward, np.float32)),
            tf.constant(np.stack(b.next_obs)),
            tf.constant(np.array(b.done, np.float32)),
            tf.constant(w),
        )
        replay.update(idx, error.numpy())
        if step % 500 == 0:
            agent.sync()
            print(f"step {step:5d}  eps {epsilon:.2f}  return {np.mean(returns or [0]):+.3f}")


if __name__ == "__main__":
    main()
