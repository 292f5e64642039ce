import argparse
import collections
import random

import numpy as np
import tensorflow as tf

# Off-policy actor-critic for ordering decisions of a chain of small shops.
# State of a shop: stock, goods under way, season, recent demand. Action: order size class.

ORDER_SIZES = np.array([0, 5, 10, 20, 40], dtype=np.float32)
STATE_DIM = 9
GAMMA = 0.97

Step = collections.namedtuple("Step", "state action reward nxt logp born")


class Shops:
    def __init__(self, count, seed):
        self.rng = np.random.default_rng(seed)
        self.count = count
        self.day = 0
        self.stock = self.rng.uniform(10, 60, count).astype(np.float32)
        self.under_way = np.zeros((count, 3), np.float32)
        self.recent = np.full((count, 3), 12.0, np.float32)
        self.level = self.rng.uniform(8, 16, count).astype(np.float32)

    def observe(self):
        season = 2 * np.pi * self.day / 28
        extra = np.tile([np.sin(season), np.cos(season)], (self.count, 1))
        return np.concatenate(
            [self.stock[:, None] / 50, self.under_way / 40, self.recent / 20, extra], axis=1
        ).astype(np.float32)

    def advance(self, actions):
        order = ORDER_SIZES[actions]
        season = 1 + 0.4 * np.sin(2 * np.pi * self.day / 28)
        demand = self.rng.poisson(self.level * season).astype(np.float32)
        self.stock += self.under_way[:, 0]
        self.under_way = np.concatenate([self.under_way[:, 1:], order[:, None]], axis=1)
        sold = np.minimum(self.stock, demand)
        self.stock = np.clip(self.stock - sold, 0, 200)
        missed = demand - sold
        reward = 1.0 * sold - 0.06 * self.stock - 0.8 * missed - 0.5 * (order > 0)
        self.recent = np.concatenate([self.recent[:, 1:], demand[:, None]], axis=1)
        self.day += 1
        return (reward / 10).astype(np.float32)


def mlp(out, name):
    return tf.keras.Sequential(
        [
            tf.keras.Input((STATE_DIM,)),
            tf.keras.layers.Dense(128, activation="tanh"),
            tf.keras.layers.Dense(128, activation="tanh"),
            tf.keras.layers.Dense(out),
        ],
        name=name,
    )


class Memory:
    """Keeps transitions; a draw prefers large, recent rewards in either direction."""

    def __init__(self, capacity=60000):
        self.items = []
        self.capacity = capacity

    def push(self, item):
        self.items.append(item)
        if len(self.items) > self.capacity:
            self.items = self.items[-self.capacity :]

    def draw(self, n, day):
        ranked = sorted(self.items, key=lambda s: -abs(s.reward) * 0.998 ** (day - s.born))
        top = ranked[: len(ranked) // 3 + n]
        return random.sample(top, n // 2) + random.sample(self.items, n - n // 2)


class Agent:
    def __init__(self, lr):
        self.actor = mlp(len(ORDER_SIZES), "actor")
        self.critic = mlp(1, "critic")
        self.actor_opt = tf.keras.optimizers.Adam(lr)
        self.critic_opt = tf.keras.optimizers.Adam(3 * lr)

    def choose(self, states, rng):
        logits = self.actor.predict(states, verbose=0)
        noise = rng.gumbel(size=logits.shape)
        actions = np.argmax(logits + noise, axis=1)
        logits = logits - logits.max(axis=1, keepdims=True)
        logp = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        return actions, logp[np.arange(len(actions)), actions]

    @tf.function
    def fit_critic(self, s, r, s2):
        goal = r + GAMMA * self.critic(s2)[:, 0]
        with tf.GradientTape() as tape:
            value = self.critic(s, training=True)[:, 0]
            loss = tf.reduce_mean(tf.square(tf.stop_gradient(goal) - value))
        grads = tape.gradient(loss, self.critic.trainable_variables)
        self.critic_opt.apply_gradients(zip(grads, self.critic.trainable_variables))
        return loss

    @tf.function
    def fit_actor(self, s, a, r, s2, old_logp):
        adv = r + GAMMA * self.critic(s2)[:, 0] - self.critic(s)[:, 0]
        adv = (adv - tf.reduce_mean(adv)) / (tf.math.reduce_std(adv) + 1e-5)
        with tf.GradientTape() as tape:
            logp_all = tf.nn.log_softmax(self.actor(s, training=True))
            logp = tf.gather(logp_all, a, batch_dims=1)
            ratio = tf.minimum(tf.exp(logp - old_logp), 2.0)
            entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp_all) * logp_all, axis=1))
            loss = -tf.reduce_mean(ratio * adv) - 0.01 * entropy
        grads = tape.gradient(loss, self.actor.trainable_variables)
        self.actor_opt.apply_gradients(zip(grads, self.actor.trainable_variables))
        return loss


def main(args):
    random.seed(args.seed)
    tf.keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    shops, agent, memory = Shops(args.shops, args.seed), Agent(args.lr), Memory()
    states = shops.observe()
    takings = collections.deque(maxlen=50)

    for day in range(args.days):
        actions, logp = agent.choose(states, rng)
        rewards = shops.advance(actions)
        nxt = shops.observe()
        for i in range(args.shops):
            memory.push(Step(states[i], actions[i], float(rewards[i]), nxt[i], logp[i], day))
        states = nxt
        takings.append(float(rewards.mean()))
        if day < 10:
            continue

        batch = memory.draw(args.batch, day)
        s = tf.constant(np.stack([b.state for b in batch]))
        a = tf.constant(np.array([b.action for b in batch], np.int32))
        r = tf.constant(np.array([b.reward for b in batch], np.float32))
        s2 = tf.constant(np.stack([b.nxt for b in batch]))
        lp = tf.constant(np.array([b.logp for b in batch], np.float32))
        v_loss = agent.fit_critic(s, r, s2)
        p_loss = agent.fit_actor(s, a, r, s2, lp)
        if day % 100 == 0:
            print(
                "day",
                day,
                "value loss %.4f" % v_loss,
                "policy loss %.4f" % p_loss,
                "takings %.3f" % np.mean(takings),
            )
    agent.actor.save("actor.keras")


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--days", type=int, default=520)
    p.add_argument("--shops", type=int, default=110)
    p.add_argument("--batch", type=int, default=256)
    p.add_argument("--lr", type=float, default=5e-4)
    p.add_argument("--seed", type=int, default=3)
    main(p.parse_args())
