"""Neural contextual bandit: how long to hold a tram at an interchange.

Each round is one timetable day.  The policy picks one of 6 holding times for
every arriving tram, sees the delay cost, and is refitted on recent days.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import dataclasses
import time

import numpy as np
import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class Policy:
    arms: int = 6
    epsilon: float = 0.4
    epsilon_decay: float = 0.93
    entropy: float = 0.01
    width: int = 256
    lr: float = 1e-3
    updates_per_day: int = 22
    batch: int = 512


class Interchange:
    """Simulated stop; context = load, lateness, connections, weather..."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.w = self.rng.normal(0, 0.5, (18, 6))
        self.q = self.rng.normal(0, 0.2, (18, 18, 6))

    def arrivals(self, n):
        return self.rng.normal(0, 1, (n, 18)).astype(np.float32)

    def mean_cost(self, ctx):
        return ctx @ self.w + np.einsum("ni,nj,ija->na", ctx, ctx, self.q, optimize=True) / 4

    def cost(self, ctx, arm):
        mu = self.mean_cost(ctx)[np.arange(len(ctx)), arm]
        return (mu + self.rng.normal(0, 0.3, len(ctx))).astype(np.float32)


class HoldModel(tf.Module):
    def __init__(self, cfg):
        super().__init__()
        sizes = [18, cfg.width, cfg.width, cfg.width, cfg.width, cfg.arms]
        self.ws, self.bs = [], []
        for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:])):
            self.ws.append(
                tf.Variable(tf.random.normal([a, b], stddev=(2.0 / a) ** 0.5), name=f"w{i}")
            )
            self.bs.append(tf.Variable(tf.zeros([b]), name=f"b{i}"))
        self.opt = tf.keras.optimizers.Adam(cfg.lr)
        self.opt.build(list(self.trainable_variables))

    def costs(self, x):
        for w, b in zip(self.ws[:-1], self.bs[:-1]):
            x = tf.nn.gelu(x @ w + b)
        return x @ self.ws[-1] + self.bs[-1]

    @tf.function
    def act(self, x, cfg):
        greedy = tf.argmin(self.costs(x), axis=1, output_type=tf.int32)
        n = tf.shape(x)[0]
        rand = tf.random.uniform([n], 0, cfg.arms, tf.int32)
        explore = tf.random.uniform([n]) < cfg.epsilon
        return tf.where(explore, rand, greedy)

    @tf.function
    def update(self, x, arm, cost, cfg):
        with tf.GradientTape() as tape:
            pred = self.costs(x)
            chosen = tf.gather(pred, arm, batch_dims=1)
            probs = tf.nn.softmax(-pred)
            entropy = -tf.reduce_sum(probs * tf.math.log(probs + 1e-8), 1)
            greedy = tf.argmin(pred, axis=1, output_type=tf.int32)
            propensity = tf.where(arm == greedy, 1.0 - cfg.epsilon, cfg.epsilon / cfg.arms)
            weight = tf.minimum(1.0 / (propensity + 0.05), 5.0)
            loss = tf.reduce_mean(weight * tf.square(chosen - cost)) - cfg.entropy * tf.reduce_mean(
                entropy
            )
        variables = self.trainable_variables
        grads = tape.gradient(loss, variables)
        grads, _ = tf.clip_by_global_norm(grads, 5.0)
        self.opt.apply_gradients(zip(grads, variables))
        return loss


def main(days=23, trams=256, seed=31):
    tf.random.set_seed(seed)
    rng = np.random.default_rng(seed)
    cfg = Policy()
    env = Interchange(seed)
    model = HoldModel(cfg)
    X = np.zeros((0, 18), np.float32)
    A = np.zeros((0,), np.int32)
    C = np.zeros((0,), np.float32)
    t0 = time.time()
    for day in range(days):
        ctx = env.arrivals(trams)
        arm = model.act(tf.constant(ctx), cfg).numpy()
        cost = env.cost(ctx, arm)
        X, A, C = (
            np.concatenate([X, ctx])[-8000:],
            np.concatenate([A, arm])[-8000:],
            np.concatenate([C, cost])[-8000:],
        )
        for _ in range(cfg.updates_per_day):
            i = rng.integers(0, len(X), cfg.batch)
            loss = model.update(tf.constant(X[i]), tf.constant(A[i]), tf.constant(C[i]), cfg)
        regret = float(np.mean(cost - env.mean_cost(ctx).min(1)))
        if day % 5 == 0 or day == days - 1:
            print(f"day {day:3d} eps {cfg.epsilon:.2f} loss {float(loss):.3f} regret {regret:.3f}")
        cfg = dataclasses.replace(cfg, epsilon=cfg.epsilon * cfg.epsilon_decay)
    print("done in %.1f s" % (time.time() - t0))


if __name__ == "__main__":
    main()
