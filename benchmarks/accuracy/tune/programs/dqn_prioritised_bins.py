"""Double DQN with prioritised replay: pick-up robots in a small warehouse grid."""

import argparse
import collections
import time

import numpy as np
import tensorflow as tf

Transition = collections.namedtuple("Transition", "obs action reward next_obs done")
GRID = 8
MOVES = np.array([(-1, 0), (1, 0), (0, -1), (0, 1), (0, 0)])


class WarehouseEnv:
    """A batch of independent grids; a robot must reach a parcel, then the dock."""

    def __init__(self, n_envs, rng):
        self.n, self.rng = n_envs, rng
        self.robot = rng.integers(0, GRID, (n_envs, 2))
        self.parcel = rng.integers(0, GRID, (n_envs, 2))
        self.loaded = np.zeros(n_envs, bool)
        self.clock = np.zeros(n_envs, int)

    def observe(self):
        dock = np.zeros((self.n, 2))
        target = np.where(self.loaded[:, None], dock, self.parcel)
        parts = [
            self.robot / GRID,
            self.parcel / GRID,
            (target - self.robot) / GRID,
            self.loaded[:, None],
            self.clock[:, None] / 40.0,
        ]
        return np.concatenate(parts, axis=1).astype("float32")

    def step(self, actions):
        self.robot = np.clip(self.robot + MOVES[actions], 0, GRID - 1)
        self.clock += 1
        picked = ~self.loaded & (self.robot == self.parcel).all(1)
        self.loaded |= picked
        delivered = self.loaded & (self.robot == 0).all(1) & ~picked
        reward = np.where(delivered, 5.0, np.where(picked, 1.0, -0.05)).astype("float32")
        done = delivered | (self.clock >= 40)
        final = self.observe()
        k = int(done.sum())
        if k:
            self.robot[done] = self.rng.integers(0, GRID, (k, 2))
            self.parcel[done] = self.rng.integers(0, GRID, (k, 2))
            self.loaded[done] = False
            self.clock[done] = 0
        return final, reward, done


class PrioritizedReplay:
    def __init__(self, capacity, alpha=0.6, beta=0.4, eps=1e-3):
        self.capacity, self.alpha, self.beta, self.eps = capacity, alpha, beta, eps
        self.memory = []
        self.priorities = []
        self.cursor = 0
        self.max_priority = 1.0

    def add(self, transition):
        if len(self.memory) < self.capacity:
            self.memory.append(transition)
            self.priorities.append(self.max_priority)
        else:
            self.memory[self.cursor] = transition
            self.priorities[self.cursor] = self.max_priority
        self.cursor = (self.cursor + 1) % self.capacity

    def sample(self, batch_size, rng):
        probs = np.array([(p + self.eps) ** self.alpha for p in self.priorities])
        probs /= probs.sum()
        idx = rng.choice(len(self.memory), batch_size, p=probs)
        weights = (len(self.memory) * probs[idx]) ** -self.beta
        batch = Transition(*(np.stack(field) for field in zip(*(self.memory[i] for i in idx))))
        return idx, batch, (weights / weights.max()).astype("float32")

    def update(self, idx, errors):
        for i, err in zip(idx, errors):
            self.priorities[i] = float(abs(err))
            self.max_priority = max(self.max_priority, self.priorities[i])


def q_network(n_obs, n_actions):
    inputs = tf.keras.Input((n_obs,))
    x = tf.keras.layers.Dense(256, activation="relu")(inputs)
    x = tf.keras.layers.Dense(256, activation="relu")(x)
    value = tf.keras.layers.Dense(1)(x)
    advantage = tf.keras.layers.Dense(n_actions)(x)
    centred = tf.keras.layers.Lambda(lambda a: a - tf.reduce_mean(a, 1, keepdims=True))(advantage)
    return tf.keras.Model(inputs, value + centred)


class Agent:
    def __init__(self, n_obs, n_actions, gamma=0.97, lr=5e-4):
        self.online = q_network(n_obs, n_actions)
        self.target = q_network(n_obs, n_actions)
        self.target.set_weights(self.online.get_weights())
        self.gamma, self.n_actions = gamma, n_actions
        self.optimizer = tf.keras.optimizers.Adam(lr)
        self.optimizer.build(self.online.trainable_variables)

    @tf.function
    def greedy(self, obs):
        return tf.argmax(self.online(obs), axis=1)

    @tf.function
    def learn(self, obs, action, reward, next_obs, done, weights):
        best = tf.argmax(self.online(next_obs), axis=1)
        next_q = tf.gather(self.target(next_obs), best, axis=1, batch_dims=1)
        goal = reward + self.gamma * (1.0 - done) * next_q
        with tf.GradientTape() as tape:
            q = tf.gather(self.online(obs), action, axis=1, batch_dims=1)
            td = goal - q
            loss = tf.reduce_mean(
                weights * tf.where(tf.abs(td) < 1, 0.5 * td * td, tf.abs(td) - 0.5)
            )
        grads = tape.gradient(loss, self.online.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.online.trainable_variables))
        return loss, td


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=3000)
    ap.add_argument("--envs", type=int, default=16)
    ap.add_argument("--batch", type=int, default=128)
    ap.add_argument("--sync", type=int, default=200)
    args = ap.parse_args()

    rng = np.random.default_rng(5)
    tf.keras.utils.set_random_seed(5)
    env = WarehouseEnv(args.envs, rng)
    obs = env.observe()
    agent = Agent(obs.shape[1], len(MOVES))
    replay = PrioritizedReplay(capacity=100_000)
    returns = collections.deque(maxlen=400)
    running = np.zeros(args.envs)

    started = time.time()
    for step in range(1, args.steps + 1):
        epsilon = max(0.05, 1.0 - step / 1500)
        actions = agent.greedy(obs).numpy()
        explore = rng.random(args.envs) < epsilon
        actions[explore] = rng.integers(0, len(MOVES), int(explore.sum()))
        next_obs, reward, done = env.step(actions)
        for i in range(args.envs):
            replay.add(Transition(obs[i], actions[i], reward[i], next_obs[i], np.float32(done[i])))
        running += reward
        returns.extend(running[done])
        running[done] = 0.0
        obs = env.observe()

        idx, batch, weights = replay.sample(args.batch, rng)
        loss, td = agent.learn(
            batch.obs, batch.action, batch.reward, batch.next_obs, batch.done, weights
        )
        replay.update(idx, td.numpy())
        if step % args.sync == 0:
            agent.target.set_weights(agent.online.get_weights())
        if step % 250 == 0:
            print(
                "step %5d  loss %.4f  return %.2f  eps %.2f"
                % (step, float(loss), np.mean(returns) if returns else 0.0, epsilon)
            )
    print("training took %.1f s" % (time.time() - started))


if __name__ == "__main__":
    main()
