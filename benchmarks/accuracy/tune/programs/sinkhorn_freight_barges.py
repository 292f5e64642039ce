"""Moves freight between river ports: a network predicts port potentials, and a Sinkhorn plan is the loss.
The entropy is lowered in stages, each with more scaling rounds."""

import argparse
import time

import numpy as np
import tensorflow as tf


def get_args():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--ports", type=int, default=72)
    p.add_argument("--batch", type=int, default=48)
    p.add_argument("--seed", type=int, default=5)
    p.add_argument("--stages", default="0.3:8:180,0.15:14:130,0.08:22:100")
    return p.parse_args()


def markets(rng, n, ports):
    """Supply, demand and the coordinates of all ports."""
    place = np.cumsum(rng.uniform(0.0, 0.03, (n, ports)), 1)
    season = rng.uniform(0, 6.28, (n, 1))
    supply = np.exp(np.sin(4 * place + season) + 0.2 * rng.standard_normal((n, ports)))
    demand = np.exp(np.cos(3 * place + season) + 0.2 * rng.standard_normal((n, ports)))
    norm = lambda v: v / v.sum(1, keepdims=True)
    return [a.astype(np.float32) for a in (norm(supply), norm(demand), place)]


class PotentialNet(tf.keras.Model):
    def __init__(self, ports, width=512):
        super().__init__()
        self.body = [tf.keras.layers.Dense(width, activation="silu") for _ in range(4)]
        self.norms = [tf.keras.layers.LayerNormalization() for _ in range(4)]
        self.pot = tf.keras.layers.Dense(ports, kernel_initializer="zeros")

    def call(self, inputs):
        h = tf.concat(inputs, -1)
        for layer, norm in zip(self.body, self.norms):
            h = norm(layer(h))
        return self.pot(h)


def sinkhorn_row(f, supply, demand, cost, eps, rounds):
    """Alternates both scalings in the log domain and returns the row potential."""
    log_a, log_b = tf.math.log(supply), tf.math.log(demand)

    def body(i, f):
        g = eps * (log_b - tf.reduce_logsumexp((f[:, :, None] - cost) / eps, 1))
        f = eps * (log_a - tf.reduce_logsumexp((g[:, None, :] - cost) / eps, 2))
        return i + 1, f

    _, f = tf.while_loop(lambda i, f: i < rounds, body, (tf.constant(0), f))
    return f - tf.reduce_mean(f, 1, keepdims=True)


class Dispatcher:
    def __init__(self, ports):
        self.net = PotentialNet(ports)
        self.opt = tf.keras.optimizers.Adam(1e-3)
        self.eps = tf.Variable(1.0, trainable=False)
        self.rounds = tf.Variable(0, trainable=False)

    @tf.function
    def step(self, supply, demand, place):
        cost = tf.square(place[:, :, None] - place[:, None, :])
        with tf.GradientTape() as tape:
            f = self.net([supply, demand, place])
            f = f - tf.reduce_mean(f, 1, keepdims=True)
            target = tf.stop_gradient(sinkhorn_row(f, supply, demand, cost, self.eps, self.rounds))
            loss = tf.reduce_mean(tf.abs(f - target))
        grads = tape.gradient(loss, self.net.trainable_variables)
        grads, norm = tf.clip_by_global_norm(grads, 1.0)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss, norm


def main():
    args = get_args()
    tf.keras.utils.set_random_seed(args.seed)
    data = markets(np.random.default_rng(args.seed), 1200, args.ports)
    feed = iter(
        tf.data.Dataset.from_tensor_slices(tuple(data))
        .shuffle(1200, seed=args.seed)
        .repeat()
        .batch(args.batch)
        .prefetch(tf.data.AUTOTUNE)
    )
    dispatcher = Dispatcher(args.ports)
    start = time.time()
    for stage in args.stages.split(","):
        eps, rounds, updates = stage.split(":")
        dispatcher.eps.assign(float(eps) ** 2)
        dispatcher.rounds.assign(int(rounds))
        print(f"stage eps={eps} rounds={dispatcher.rounds.numpy()}")
        curve = []
        for _ in range(int(updates)):
            loss, norm = dispatcher.step(*next(feed))
            curve.append(loss)
        print(
            "   potential error first %.4f last %.4f" % (float(curve[0]), float(curve[-1])),
            "gradient %.3f" % float(norm),
        )
    print("done in %.1f s" % (time.time() - start))


if __name__ == "__main__":
    main()
