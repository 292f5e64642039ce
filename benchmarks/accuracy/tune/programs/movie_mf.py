"""Neural matrix factorisation on a synthetic star-rating log (TF1 style graph)."""

import argparse
import os

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

parser = argparse.ArgumentParser()
parser.add_argument("--users", type=int, default=40000)
parser.add_argument("--movies", type=int, default=6000)
parser.add_argument("--ratings", type=int, default=1500000)
parser.add_argument("--dim", type=int, default=48)
parser.add_argument("--batch", type=int, default=1024)
parser.add_argument("--rounds", type=int, default=10, help="rounds of block-wise warm-up")
parser.add_argument("--epochs", type=int, default=7)
parser.add_argument("--logdir", default="mf_logs")
FLAGS = parser.parse_args()


def make_ratings(rng):
    u_lat = rng.normal(size=(FLAGS.users, 6)).astype(np.float32)
    m_lat = rng.normal(size=(FLAGS.movies, 6)).astype(np.float32)
    u_bias = rng.normal(scale=0.3, size=FLAGS.users)
    m_bias = rng.normal(scale=0.5, size=FLAGS.movies)
    pop = rng.zipf(1.3, size=FLAGS.ratings) % FLAGS.movies
    u = rng.integers(0, FLAGS.users, FLAGS.ratings)
    m = pop.astype(np.int64)
    raw = 3.4 + u_bias[u] + m_bias[m] + 0.35 * np.sum(u_lat[u] * m_lat[m], axis=1)
    raw += rng.normal(scale=0.4, size=FLAGS.ratings)
    stars = np.clip(np.round(raw * 2) / 2, 0.5, 5.0).astype(np.float32)
    return u.astype(np.int32), m.astype(np.int32), stars


def batches(u, m, r, order, size):
    for i in range(0, len(order) - size + 1, size):
        pick = order[i : i + size]
        yield u[pick], m[pick], r[pick]


rng = np.random.default_rng(17)
users, movies, stars = make_ratings(rng)
cut = int(0.94 * len(stars))
perm = rng.permutation(len(stars))
train_idx, test_idx = perm[:cut], perm[cut:]

# ------------------------------------------------------------------ graph
user_ph = tf.placeholder(tf.int32, [None], "user")
movie_ph = tf.placeholder(tf.int32, [None], "movie")
star_ph = tf.placeholder(tf.float32, [None], "stars")
lr_ph = tf.placeholder_with_default(0.01, [], "lr")

init = tf.random_normal_initializer(stddev=0.05, seed=3)
with tf.variable_scope("bias"):
    b_user = tf.get_variable("user", [FLAGS.users], initializer=tf.zeros_initializer())
    b_movie = tf.get_variable("movie", [FLAGS.movies], initializer=tf.zeros_initializer())
    b_all = tf.get_variable("all", [], initializer=tf.constant_initializer(3.4))
with tf.variable_scope("user_emb"):
    e_user = tf.get_variable("table", [FLAGS.users, FLAGS.dim], initializer=init)
with tf.variable_scope("movie_emb"):
    e_movie = tf.get_variable("table", [FLAGS.movies, FLAGS.dim], initializer=init)

vu = tf.nn.embedding_lookup(e_user, user_ph)
vm = tf.nn.embedding_lookup(e_movie, movie_ph)
hidden = tf.concat([vu, vm, vu * vm], axis=1)
layer_in = 3 * FLAGS.dim
for n, width in enumerate((256, 128, 64), start=1):
    with tf.variable_scope("tower%d" % n):
        w = tf.get_variable(
            "w", [layer_in, width], initializer=tf.glorot_uniform_initializer(seed=n)
        )
        b = tf.get_variable("b", [width], initializer=tf.zeros_initializer())
        hidden = tf.nn.relu(tf.matmul(hidden, w) + b)
    layer_in = width
with tf.variable_scope("head"):
    w_out = tf.get_variable("w", [layer_in, 1], initializer=tf.glorot_uniform_initializer(seed=9))

predicted = (
    b_all
    + tf.gather(b_user, user_ph)
    + tf.gather(b_movie, movie_ph)
    + tf.reduce_sum(vu * vm, 1)
    + tf.squeeze(tf.matmul(hidden, w_out), 1)
)
mse = tf.reduce_mean(tf.square(predicted - star_ph))
l2 = tf.reduce_mean(tf.reduce_sum(vu**2, 1) + tf.reduce_sum(vm**2, 1))
loss = mse + 1e-3 * l2
sq_err = tf.reduce_sum(tf.square(predicted - star_ph))

BLOCKS = ["bias", "user_emb", "movie_emb", "tower1", "tower2", "tower3", "head"]
block_ops, block_norms, block_summaries = {}, {}, {}
for name in BLOCKS:
    variables = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=name + "/")
    opt = tf.train.AdagradOptimizer(lr_ph)
    grads = opt.compute_gradients(loss, variables)
    block_ops[name] = opt.apply_gradients(grads)
    block_norms[name] = tf.global_norm([g for g, _ in grads])
    block_summaries[name] = tf.summary.merge(
        [
            tf.summary.scalar(name + "/grad_norm", block_norms[name]),
            tf.summary.scalar(
                name + "/weight_norm", tf.global_norm([v.value() for v in variables])
            ),
        ]
    )

global_step = tf.train.get_or_create_global_step()
joint = tf.train.AdagradOptimizer(lr_ph)
train_op = joint.minimize(loss, global_step=global_step)
loss_summary = tf.summary.scalar("loss", loss)
init_op = tf.global_variables_initializer()
saver = tf.train.Saver(max_to_keep=1)
tf.get_default_graph().finalize()


def rmse_on(sess, idx):
    total = 0.0
    for uu, mm, rr in batches(users, movies, stars, idx, 5000):
        total += sess.run(sq_err, {user_ph: uu, movie_ph: mm, star_ph: rr})
    return np.sqrt(total / (len(idx) // 5000 * 5000))


os.makedirs(FLAGS.logdir, exist_ok=True)
writer = tf.summary.FileWriter(FLAGS.logdir)
with tf.Session() as sess:
    sess.run(init_op)

    # block-wise warm-up: every block alone, then with the one before it
    tick = 0
    for rnd in range(FLAGS.rounds):
        order = rng.permutation(train_idx)[: FLAGS.batch * 2 * len(BLOCKS)]
        feed_iter = batches(users, movies, stars, order, FLAGS.batch)
        for k, name in enumerate(BLOCKS):
            for fetches in (
                {"op": block_ops[name], "loss": loss, "summary": block_summaries[name]},
                {
                    "op": [block_ops[name], block_ops[BLOCKS[k - 1]]],
                    "mse": mse,
                    "norm": block_norms[name],
                },
            ):
                uu, mm, rr = next(feed_iter)
                out = sess.run(fetches, {user_ph: uu, movie_ph: mm, star_ph: rr, lr_ph: 0.05})
                if "summary" in out:
                    writer.add_summary(out["summary"], tick)
                tick += 1
    print("after warm-up: rmse %.4f" % rmse_on(sess, test_idx))

    for epoch in range(FLAGS.epochs):
        order = rng.permutation(train_idx)
        rate = 0.06 * 0.8**epoch
        running = []
        for uu, mm, rr in batches(users, movies, stars, order, FLAGS.batch):
            feed = {user_ph: uu, movie_ph: mm, star_ph: rr, lr_ph: rate}
            _, value, step = sess.run([train_op, loss, global_step], feed)
            running.append(value)
            if step % 500 == 0:
                text = sess.run(loss_summary, feed)
                writer.add_summary(text, step)
                print("step %5d  loss %.4f" % (step, np.mean(running[-500:])))
        print(
            "epoch %d: train %.4f  test rmse %.4f"
            % (epoch + 1, np.mean(running), rmse_on(sess, test_idx))
        )
    saver.save(sess, os.path.join(FLAGS.logdir, "model.ckpt"), global_step=global_step)
writer.close()
