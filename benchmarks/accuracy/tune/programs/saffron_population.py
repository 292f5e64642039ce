"""Population of colour graders for saffron threads: eight small nets with
their own learning rate and noise, trained side by side in one batched graph.
Each round the weakest two copy the best two and change their settings.
"""

import dataclasses
import time

import numpy as np
import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class Cfg:
    members: int = 8
    rounds: int = 28
    updates: int = 40
    batch: int = 384
    features: int = 96
    width: int = 192
    grades: int = 5
    seed: int = 44


def harvest(cfg, n, rng, centres):
    grade = rng.integers(0, cfg.grades, n)
    tint = centres[grade] + rng.standard_normal((n, cfg.features)) * 1.6
    tint[:, ::7] *= np.sign(rng.standard_normal((n, 1)))
    return tint.astype("float32"), grade.astype("int32")


class Colony(tf.Module):
    """Weights have a leading axis for the member."""

    def __init__(self, cfg):
        super().__init__()
        gen = tf.random.Generator.from_seed(cfg.seed)
        sizes = [cfg.features, cfg.width, cfg.width, cfg.grades]
        self.w = [
            tf.Variable(gen.normal((cfg.members, a, b)) * (2 / a) ** 0.5)
            for a, b in zip(sizes, sizes[1:])
        ]
        self.b = [tf.Variable(tf.zeros((cfg.members, 1, b))) for b in sizes[1:]]
        self.params = self.w + self.b
        self.momentum = [tf.Variable(tf.zeros_like(v), trainable=False) for v in self.params]
        self.lr = tf.Variable(
            10.0 ** np.linspace(-3.2, -1.0, cfg.members).astype("float32"), trainable=False
        )
        self.noise = tf.Variable(
            np.linspace(0, 0.8, cfg.members).astype("float32"), trainable=False
        )

    def logits(self, x):
        for w, b in zip(self.w[:-1], self.b[:-1]):
            x = tf.nn.relu(x @ w + b)
        return x @ self.w[-1] + self.b[-1]


def per_member(v, like):
    return tf.reshape(v, [-1] + [1] * (len(like.shape) - 1))


def main(cfg):
    rng = np.random.default_rng(cfg.seed)
    tf.random.set_seed(cfg.seed)
    centres = rng.standard_normal((cfg.grades, cfg.features)) * 0.5
    x, y = map(tf.constant, harvest(cfg, 16384, rng, centres))
    vx, vy = map(tf.constant, harvest(cfg, 1024, rng, centres))
    colony = Colony(cfg)

    @tf.function
    def train_round(updates):
        worst = tf.zeros((cfg.members,))
        for _ in tf.range(updates):
            pick = tf.random.uniform((cfg.members, cfg.batch), 0, 16384, tf.int32)
            bx, by = tf.gather(x, pick), tf.gather(y, pick)
            bx += per_member(colony.noise, bx) * tf.random.normal(tf.shape(bx))
            with tf.GradientTape() as tape:
                loss = tf.nn.sparse_softmax_cross_entropy_with_logits(by, colony.logits(bx))
                loss = tf.reduce_mean(loss, 1)
                total = tf.reduce_sum(loss)
            for g, v, m in zip(tape.gradient(total, colony.params), colony.params, colony.momentum):
                m.assign(0.9 * m + g)
                v.assign_sub(per_member(colony.lr, v) * m)
            worst = tf.maximum(worst, loss)
        return worst

    @tf.function
    def grade_all():
        guess = tf.argmax(colony.logits(vx[None]), 2, tf.int32)
        return tf.reduce_mean(tf.cast(guess == vy, tf.float32), 1)

    def exploit(score):
        order = np.argsort(score)
        source = np.arange(cfg.members)
        source[order[:2]] = order[-2:]
        for v in colony.params + colony.momentum + [colony.lr, colony.noise]:
            v.assign(tf.gather(v, source))
        jitter = np.ones(cfg.members, "float32")
        jitter[order[:2]] = rng.choice([0.7, 1.4], 2)
        colony.lr.assign(colony.lr * jitter)
        colony.noise.assign(colony.noise / jitter)

    t0 = time.time()
    for r in range(cfg.rounds):
        train_round(tf.constant(cfg.updates))
        score = grade_all().numpy()
        print(
            f"round {r:2d} best {score.max():.3f} worst {score.min():.3f} {time.time() - t0:.1f} s"
        )
        if r + 1 < cfg.rounds:
            exploit(score)
    print("surviving rates", np.round(np.log10(colony.lr.numpy()), 2))


if __name__ == "__main__":
    main(Cfg())
