"""Two otters play tag in a round pool; both policies are trained by policy
gradients against one another.  The pool is simulated inside the graph.

Odd blocks train the chaser, even blocks the runner; every few blocks the pair
is compared with a frozen opponent.
"""

import argparse
import time

import numpy as np
import tensorflow as tf

SPEED = {"chaser": 0.10, "runner": 0.085}


class Brain(tf.keras.Model):
    def __init__(self, width):
        super().__init__()
        self.body = tf.keras.Sequential(
            [tf.keras.layers.Dense(width, "tanh"), tf.keras.layers.Dense(width, "tanh")]
        )
        self.turn = tf.keras.layers.Dense(8)
        self.worth = tf.keras.layers.Dense(1)

    def call(self, s):
        h = self.body(s)
        return self.turn(h), tf.squeeze(self.worth(h), -1)


class Pool:
    def __init__(self, games, horizon):
        self.games, self.horizon = games, horizon
        angles = np.arange(8) * np.pi / 4
        self.moves = tf.constant(np.stack([np.cos(angles), np.sin(angles)], 1), tf.float32)

    def fresh(self):
        return tf.random.uniform((self.games, 4), -0.7, 0.7)

    def advance(self, state, a_chaser, a_runner):
        c = state[:, :2] + SPEED["chaser"] * tf.gather(self.moves, a_chaser)
        r = state[:, 2:] + SPEED["runner"] * tf.gather(self.moves, a_runner)
        c = tf.clip_by_norm(c, 1.0, axes=[1])
        r = tf.clip_by_norm(r, 1.0, axes=[1])
        gap = tf.norm(c - r, axis=1)
        return tf.concat([c, r], 1), 0.1 - gap + 2.0 * tf.cast(gap < 0.12, tf.float32)

    def play(self, chaser, runner):
        """Whole games; returns states, both actions and the chaser's rewards."""
        states = tf.TensorArray(tf.float32, self.horizon)
        moves = tf.TensorArray(tf.int32, self.horizon)
        rewards = tf.TensorArray(tf.float32, self.horizon)
        s = self.fresh()
        for t in tf.range(self.horizon):
            ac = tf.random.categorical(chaser(s)[0], 1, tf.int32)[:, 0]
            ar = tf.random.categorical(runner(s)[0], 1, tf.int32)[:, 0]
            states = states.write(t, s)
            moves = moves.write(t, tf.stack([ac, ar], 1))
            s, rew = self.advance(s, ac, ar)
            rewards = rewards.write(t, rew)
        return states.stack(), moves.stack(), rewards.stack()


def returns(rewards, gamma=0.95):
    return tf.scan(lambda acc, r: r + gamma * acc, rewards, tf.zeros_like(rewards[0]), reverse=True)


def make_update(pool, chaser, runner, who):
    me, column, sign = (chaser, 0, 1.0) if who == "chaser" else (runner, 1, -1.0)
    opt = tf.keras.optimizers.Adam(1.5e-3)
    opt.build(me.trainable_variables)

    @tf.function
    def update():
        s, a, r = pool.play(chaser, runner)
        goal = tf.reshape(sign * returns(r), [-1])
        s = tf.reshape(s, [-1, 4])
        a = tf.reshape(a[:, :, column], [-1])
        with tf.GradientTape() as tape:
            logits, worth = me(s)
            adv = tf.stop_gradient(goal - worth)
            adv = adv / (tf.math.reduce_std(adv) + 1e-6)
            nll = tf.nn.sparse_softmax_cross_entropy_with_logits(a, logits)
            p = tf.nn.softmax(logits)
            entropy = -tf.reduce_sum(p * tf.nn.log_softmax(logits), 1)
            loss = tf.reduce_mean(nll * adv - 0.01 * entropy + 0.1 * tf.square(goal - worth))
        opt.apply_gradients(
            zip(tape.gradient(loss, me.trainable_variables), me.trainable_variables)
        )
        return tf.reduce_mean(r)

    return update


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--blocks", type=int, default=14)
    p.add_argument("--updates", type=int, default=14)
    p.add_argument("--games", type=int, default=768)
    a = p.parse_args()
    tf.keras.utils.set_random_seed(70)
    pool = Pool(a.games, 40)
    chaser, runner, drifter = Brain(128), Brain(128), Brain(128)
    for b in (chaser, runner, drifter):
        b(tf.zeros((1, 4)))
    learn = {w: make_update(pool, chaser, runner, w) for w in ("chaser", "runner")}
    match = tf.function(lambda: tf.reduce_mean(pool.play(chaser, drifter)[2]))

    t0 = time.time()
    for block in range(a.blocks):
        who = "chaser" if block % 2 == 0 else "runner"
        score = [learn[who]() for _ in range(a.updates)]
        print(f"block {block} ({who}): chaser's score {float(score[-1]):+.3f}")
        if block % 5 == 4:
            print(f"   against a drifting otter {float(match()):+.3f}  [{time.time() - t0:.1f} s]")


if __name__ == "__main__":
    main()
