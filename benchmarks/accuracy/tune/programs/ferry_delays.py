"""Ferry delay quantiles with a supervised (Monitored) TF1 session."""

import sys
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()

FLAGS = {"batch": 512, "steps": 300, "width": 1024, "columns": 48, "quantiles": (0.1, 0.5, 0.9)}


def crossings(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, (n, FLAGS["columns"])).astype("float32")
    wind = np.abs(x[:, 0]) * np.exp(0.4 * x[:, 1])
    delay = 3 * wind + 2 * np.maximum(0, x[:, 2] + x[:, 3]) ** 2 + rng.gamma(2, 1 + wind)
    return x, np.log1p(delay).astype("float32")[:, None]


def input_fn(x, y):
    x_in, y_in = tf.placeholder(tf.float32, x.shape), tf.placeholder(tf.float32, y.shape)
    ds = tf.data.Dataset.from_tensor_slices((x_in, y_in))
    ds = ds.shuffle(8192, seed=1).repeat().batch(FLAGS["batch"], drop_remainder=True)
    it = tf.data.make_initializable_iterator(ds.prefetch(4))
    return it, {x_in: x, y_in: y}


def dense(x, units, name, act=None):
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        w = tf.get_variable(
            "w", [x.shape[-1], units], initializer=tf.glorot_uniform_initializer(seed=units)
        )
        b = tf.get_variable("b", [units], initializer=tf.zeros_initializer())
    y = tf.matmul(x, w) + b
    return act(y) if act else y


def network(x):
    for i in range(4):
        x = dense(x, FLAGS["width"], f"layer{i}", tf.nn.relu)
    return dense(x, len(FLAGS["quantiles"]), "out")


def pinball(y, pred):
    q = tf.constant(FLAGS["quantiles"], tf.float32)
    err = y - pred
    return tf.reduce_mean(tf.maximum(q * err, (q - 1.0) * err))


def main():
    logdir = tempfile.mkdtemp(prefix="ferry_")
    x, y = crossings(60_000)
    xt, yt = crossings(2_048, seed=1)
    with tf.Graph().as_default():
        tf.set_random_seed(17)
        step = tf.train.get_or_create_global_step()
        it, feed = input_fn(x, y)
        bx, by = it.get_next()
        loss = pinball(by, network(bx))
        rate = tf.train.exponential_decay(1e-3, step, 150, 0.5)
        train_op = tf.train.AdamOptimizer(rate).minimize(loss, global_step=step)
        test_loss = pinball(tf.constant(yt), network(tf.constant(xt)))
        scaffold = tf.train.Scaffold(
            init_fn=lambda _, sess: sess.run(it.initializer, feed),
            saver=tf.train.Saver(tf.trainable_variables(), max_to_keep=2),
        )
        hooks = [
            tf.train.StopAtStepHook(FLAGS["steps"]),
            tf.train.CheckpointSaverHook(logdir, save_steps=150, scaffold=scaffold),
            tf.train.NanTensorHook(loss),
        ]
        n = 0
        with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold), hooks=hooks) as sess:
            while not sess.should_stop():
                value, _ = sess.run([loss, train_op])
                n += 1
                if n % 100 == 0 and not sess.should_stop():
                    held = sess.run_step_fn(
                        lambda step_context: step_context.session.run(test_loss)
                    )
                    print(f"step {n:4d} train {value:.4f} held-out {held:.4f}")
                    sys.stdout.flush()
        print("done,", n, "steps; checkpoints in", logdir)


if __name__ == "__main__":
    main()
