"""Fern spore classification, TF1 style with MonitoredTrainingSession."""

import tempfile

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.disable_v2_behavior()

FLAGS = dict(steps=220, batch=512, width=1024, features=200, genera=12, seed=8)


class SpeedHook(tf1.train.SessionRunHook):
    """Prints the loss every n steps."""

    def __init__(self, loss, every):
        self.loss, self.every, self.n = loss, every, 0

    def before_run(self, run_context):
        self.n += 1
        if self.n % self.every == 0:
            return tf1.train.SessionRunArgs(self.loss)

    def after_run(self, run_context, run_values):
        if run_values.results is not None:
            print("step %d: loss %.4f" % (self.n, run_values.results))


def spores(n, seed):
    rng = np.random.RandomState(seed)
    proto = np.random.RandomState(1).randn(FLAGS["genera"], FLAGS["features"])
    y = rng.randint(0, FLAGS["genera"], n)
    x = 0.35 * proto[y] + rng.randn(n, FLAGS["features"])
    return x.astype("float32"), y.astype("int32")


def input_fn(x, y):
    ds = tf1.data.Dataset.from_tensor_slices((x, y))
    ds = ds.shuffle(len(x), seed=FLAGS["seed"]).repeat()
    ds = ds.batch(FLAGS["batch"], drop_remainder=True).prefetch(2)
    return tf1.data.make_one_shot_iterator(ds).get_next()


def layer(x, units, name, relu=True):
    with tf1.variable_scope(name, reuse=tf1.AUTO_REUSE):
        w = tf1.get_variable(
            "w", [x.shape[-1], units], initializer=tf1.variance_scaling_initializer(2.0, seed=3)
        )
        b = tf1.get_variable("b", [units], initializer=tf1.zeros_initializer())
    out = tf.matmul(x, w) + b
    return tf.nn.relu(out) if relu else out


def network(x):
    h = layer(x, FLAGS["width"], "a")
    h = layer(h, FLAGS["width"], "b")
    h = layer(h, FLAGS["width"], "c")
    return layer(h, FLAGS["genera"], "logits", relu=False)


def main():
    tf1.set_random_seed(FLAGS["seed"])
    x, y = spores(12000, 21)
    xv, yv = spores(1024, 22)
    step = tf1.train.get_or_create_global_step()
    bx, by = input_fn(x, y)
    loss = tf.reduce_mean(
        tf1.nn.sparse_softmax_cross_entropy_with_logits(labels=by, logits=network(bx))
    )
    lr = tf1.train.piecewise_constant(step, [90, 180], [0.05, 0.02, 0.005])
    train = tf1.train.MomentumOptimizer(lr, 0.9).minimize(loss, global_step=step)

    hit = tf.equal(tf.argmax(network(tf.constant(xv)), 1, output_type=tf.int32), tf.constant(yv))
    accuracy = tf.reduce_mean(tf.cast(hit, tf.float32))

    folder = tempfile.mkdtemp(prefix="spores_")
    hooks = [tf1.train.StopAtStepHook(last_step=FLAGS["steps"]), SpeedHook(loss, 60)]
    with tf1.train.MonitoredTrainingSession(
        checkpoint_dir=folder,
        hooks=hooks,
        save_checkpoint_secs=None,
        save_checkpoint_steps=110,
        save_summaries_steps=None,
        save_summaries_secs=None,
        log_step_count_steps=None,
    ) as sess:
        n = 0
        while not sess.should_stop():
            sess.run(train)
            n += 1
            if n % 60 == 0 and not sess.should_stop():
                print("  validation accuracy %.3f" % sess.run(accuracy))
    print("last checkpoint:", tf1.train.latest_checkpoint(folder))


if __name__ == "__main__":
    main()
