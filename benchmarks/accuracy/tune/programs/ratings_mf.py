"""Biased matrix factorisation of film ratings, graph mode.

Settings follow our old production job: Adagrad, inverse-time decay of the
learning rate, factor norms limited once the factors have settled.
"""

from __future__ import print_function

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()

N_USERS = 60000
N_FILMS = 4000
RANK = 64
N_RATINGS = 400000
BATCH = 2048
N_STEPS = 1100
LR0 = 0.25
DECAY = 2e-3
SETTLED = 400
MAX_NORM = 1.6


def make_ratings(seed=13):
    rng = np.random.RandomState(seed)
    taste = rng.normal(0, 0.5, (N_USERS, 6))
    genre = rng.normal(0, 0.9, (N_FILMS, 6))
    film_quality = rng.normal(0, 0.4, N_FILMS)
    users = rng.randint(0, N_USERS, N_RATINGS)
    popularity = 1.0 / np.arange(1, N_FILMS + 1) ** 0.6
    films = rng.choice(N_FILMS, N_RATINGS, p=popularity / popularity.sum())
    score = 3.5 + film_quality[films] + (taste[users] * genre[films]).sum(1)
    score += rng.normal(0, 0.4, N_RATINGS)
    stars = np.clip(np.round(score * 2) / 2, 0.5, 5.0)
    return users.astype(np.int32), films.astype(np.int32), stars.astype(np.float32)


def build_graph():
    g = {}
    g["u"] = tf.placeholder(tf.int32, [None], name="u")
    g["f"] = tf.placeholder(tf.int32, [None], name="f")
    g["r"] = tf.placeholder(tf.float32, [None], name="r")

    g["P"] = tf.get_variable("P", [N_USERS, RANK], initializer=tf.random_normal_initializer(0, 0.1))
    g["Q"] = tf.get_variable("Q", [N_FILMS, RANK], initializer=tf.random_normal_initializer(0, 0.1))
    bu = tf.get_variable("bu", [N_USERS], initializer=tf.zeros_initializer())
    bf = tf.get_variable("bf", [N_FILMS], initializer=tf.zeros_initializer())
    mu = tf.get_variable("mu", [], initializer=tf.constant_initializer(3.5))
    g["lr"] = tf.get_variable("lr", [], trainable=False, initializer=tf.constant_initializer(LR0))

    p = tf.nn.embedding_lookup(g["P"], g["u"])
    q = tf.nn.embedding_lookup(g["Q"], g["f"])
    g["pred"] = (
        mu
        + tf.nn.embedding_lookup(bu, g["u"])
        + tf.nn.embedding_lookup(bf, g["f"])
        + tf.reduce_sum(p * q, axis=1)
    )
    mse = tf.reduce_mean(tf.square(g["pred"] - g["r"]))
    penalty = tf.reduce_mean(tf.reduce_sum(tf.square(p), 1) + tf.reduce_sum(tf.square(q), 1))
    g["rmse"] = tf.sqrt(mse)
    g["loss"] = mse + 0.02 * penalty
    g["train"] = tf.train.AdagradOptimizer(g["lr"]).minimize(g["loss"])

    g["P_in"] = tf.placeholder(tf.float32, [N_USERS, RANK], name="P_in")
    g["Q_in"] = tf.placeholder(tf.float32, [N_FILMS, RANK], name="Q_in")
    g["put"] = tf.group(tf.assign(g["P"], g["P_in"]), tf.assign(g["Q"], g["Q_in"]))
    return g


def limit_rows(table):
    norms = np.sqrt((table * table).sum(axis=1, keepdims=True))
    return table * np.minimum(1.0, MAX_NORM / np.maximum(norms, 1e-8))


def main():
    users, films, stars = make_ratings()
    order = np.random.RandomState(1).permutation(N_RATINGS)
    held, rest = order[:20000], order[20000:]

    tf.set_random_seed(17)
    g = build_graph()
    init = tf.global_variables_initializer()
    saver = tf.train.Saver(max_to_keep=1)
    rng = np.random.RandomState(2)
    seen = []

    config = tf.ConfigProto(inter_op_parallelism_threads=2, intra_op_parallelism_threads=2)
    with tf.Session(config=config) as sess:
        sess.run(init)
        for step in range(N_STEPS):
            rows = rest[rng.randint(0, len(rest), BATCH)]
            if step % 2 == 0:
                sess.run(tf.assign(g["lr"], LR0 / (1.0 + DECAY * step)))
            _, rmse = sess.run(
                [g["train"], g["rmse"]],
                feed_dict={g["u"]: users[rows], g["f"]: films[rows], g["r"]: stars[rows]},
            )
            seen.append(rmse)

            if step >= SETTLED:
                P, Q = sess.run([g["P"], g["Q"]])
                sess.run(g["put"], feed_dict={g["P_in"]: limit_rows(P), g["Q_in"]: limit_rows(Q)})

            if (step + 1) % 275 == 0:
                held_rmse = sess.run(
                    g["rmse"],
                    feed_dict={g["u"]: users[held], g["f"]: films[held], g["r"]: stars[held]},
                )
                print(
                    "step %d  train rmse %.4f  held-out rmse %.4f"
                    % (step + 1, np.mean(seen[-275:]), held_rmse)
                )
        saver.save(sess, "./mf_model.ckpt")


if __name__ == "__main__":
    main()
