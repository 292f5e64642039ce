"""Double DQN that gives trams priority at a chain of eight crossings."""

import os
import tempfile

import numpy as np
import tensorflow as tf

CROSSINGS, FRAMES = 8, 8
OBS = CROSSINGS * 5 * FRAMES
ACTIONS = 2 * CROSSINGS
CAPACITY = 60000
STEPS = 2000


class Corridor:
    """Sixteen copies of the corridor, advanced together."""

    def __init__(self, copies=16, seed=0):
        self.rng = np.random.default_rng(seed)
        self.queue = self.rng.poisson(3, (copies, CROSSINGS, 3)).astype(np.float32)
        self.tram = self.rng.integers(0, CROSSINGS, copies)
        self.green = np.zeros((copies, CROSSINGS), np.float32)
        self.stack = np.zeros((copies, FRAMES, CROSSINGS * 5), np.float32)
        self.copies = copies

    def observe(self):
        here = np.eye(CROSSINGS, dtype=np.float32)[self.tram]
        now = np.concatenate([self.queue.reshape(self.copies, -1) / 10, self.green, here], 1)
        self.stack = np.concatenate([self.stack[:, 1:], now[:, None]], 1)
        return self.stack.reshape(self.copies, -1).copy()

    def step(self, action):
        rows = np.arange(self.copies)
        self.green[rows, action // 2] = action % 2
        out = np.stack([1 - self.green, 1 - self.green, self.green], -1) * 2
        self.queue = np.maximum(self.queue + self.rng.poisson(0.8, self.queue.shape) - out, 0)
        self.queue = np.minimum(self.queue, 20).astype(np.float32)
        moving = self.green[rows, self.tram] > 0
        self.tram = np.where(moving, (self.tram + 1) % CROSSINGS, self.tram)
        reward = moving * 1.0 - self.queue.mean((1, 2)) * 0.1
        return self.observe(), reward.astype(np.float32)


class Replay(tf.Module):
    def __init__(self):
        super().__init__()
        self.obs = tf.Variable(tf.zeros((CAPACITY, OBS)), trainable=False)
        self.action = tf.Variable(tf.zeros((CAPACITY,), tf.int32), trainable=False)
        self.reward = tf.Variable(tf.zeros((CAPACITY,)), trainable=False)
        self.after = tf.Variable(tf.zeros((CAPACITY, OBS)), trainable=False)
        self.count = tf.Variable(0, trainable=False)

    @tf.function
    def add(self, obs, action, reward, after):
        n = tf.shape(obs)[0]
        at = (self.count + tf.range(n)) % CAPACITY
        self.obs.scatter_update(tf.IndexedSlices(obs, at))
        self.action.scatter_update(tf.IndexedSlices(action, at))
        self.reward.scatter_update(tf.IndexedSlices(reward, at))
        self.after.scatter_update(tf.IndexedSlices(after, at))
        self.count.assign_add(n)


def q_net():
    return tf.keras.Sequential(
        [
            tf.keras.Input((OBS,)),
            tf.keras.layers.Dense(256, activation="relu"),
            tf.keras.layers.Dense(256, activation="relu"),
            tf.keras.layers.Dense(ACTIONS),
        ]
    )


def main():
    tf.keras.utils.set_random_seed(2)
    rng = np.random.default_rng(4)
    env, replay = Corridor(), Replay()
    net, target = q_net(), q_net()
    target.set_weights(net.get_weights())
    opt = tf.keras.optimizers.Adam(5e-4)
    opt.build(net.trainable_variables)

    @tf.function
    def greedy(obs):
        return tf.argmax(net(obs), 1, output_type=tf.int32)

    @tf.function
    def learn():
        high = tf.minimum(replay.count, CAPACITY)
        pick = tf.random.uniform((256,), 0, high, tf.int32)
        obs, after = tf.gather(replay.obs, pick), tf.gather(replay.after, pick)
        action, reward = tf.gather(replay.action, pick), tf.gather(replay.reward, pick)
        best = tf.argmax(net(after), 1, output_type=tf.int32)
        goal = reward + 0.95 * tf.gather(target(after), best, batch_dims=1)
        with tf.GradientTape() as tape:
            q = tf.gather(net(obs), action, batch_dims=1)
            loss = tf.reduce_mean(tf.keras.losses.huber(goal[:, None], q[:, None]))
        opt.apply_gradients(
            zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables)
        )
        return loss

    folder = tempfile.mkdtemp(prefix="tram_")
    state = tf.train.Checkpoint(net=net, target=target, opt=opt, replay=replay)
    keeper = tf.train.CheckpointManager(state, os.path.join(folder, "ckpt"), max_to_keep=2)

    obs, income = env.observe(), 0.0
    for step in range(1, STEPS + 1):
        action = greedy(obs).numpy()
        explore = rng.random(env.copies) < max(0.05, 1 - step / 600)
        action = np.where(explore, rng.integers(0, ACTIONS, env.copies), action).astype(np.int32)
        after, reward = env.step(action)
        replay.add(obs, action, reward, after)
        obs = after
        income += float(reward.mean())
        loss = learn()
        if step % 100 == 0:
            target.set_weights(net.get_weights())
            print(f"{step}: loss {float(loss):.4f} reward {income / 100:.3f}")
            income = 0.0
        if step % 25 == 0:
            keeper.save()


if __name__ == "__main__":
    main()
