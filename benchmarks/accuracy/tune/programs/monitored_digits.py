"""An estimator-like input function and a MonitoredTrainingSession with the usual hooks."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
tf.logging.set_verbosity(tf.logging.INFO)

FLAGS = {"steps": 3600, "batch": 64, "rate": 0.05, "dir": "train_dir"}


def seven_segments(n):
    rng = np.random.default_rng(37)
    shape = [0x77, 0x24, 0x5D, 0x6D, 0x2E, 0x6B, 0x7B, 0x25, 0x7F, 0x6F]
    y = rng.integers(0, 10, n)
    bits = (np.array(shape)[y][:, None] >> np.arange(7)) & 1
    x = bits.repeat(40, axis=1) + rng.normal(0, 0.8, (n, 280))
    return x.astype("float32"), y.astype("int32")


def input_fn():
    x, y = seven_segments(6000)
    dataset = tf.data.Dataset.from_tensor_slices((x, y))
    dataset = dataset.shuffle(6000).repeat().batch(FLAGS["batch"]).prefetch(2)
    return tf.data.make_one_shot_iterator(dataset).get_next()


def model_fn(features, labels):
    h = features
    for width in (640, 640, 320):
        w = tf.get_variable(f"w{h.shape[1]}_{width}", [h.shape[1], width])
        b = tf.get_variable(f"b{h.shape[1]}_{width}", [width], initializer=tf.zeros_initializer())
        h = tf.nn.elu(tf.matmul(h, w) + b)
    w = tf.get_variable("out", [h.shape[1], 10])
    logits = tf.matmul(h, w)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    hits = tf.equal(tf.argmax(logits, 1, output_type=tf.int32), labels)
    return loss, tf.reduce_mean(tf.cast(hits, tf.float32))


with tf.Graph().as_default():
    global_step = tf.train.get_or_create_global_step()
    features, labels = input_fn()
    loss, accuracy = model_fn(features, labels)
    rate = tf.train.exponential_decay(FLAGS["rate"], global_step, 400, 0.8, staircase=True)
    train_op = tf.train.AdagradOptimizer(rate).minimize(loss, global_step=global_step)
    tf.summary.scalar("loss", loss)
    tf.summary.scalar("rate", rate)
    values = {"step": global_step, "loss": loss, "accuracy": accuracy}
    hooks = [
        tf.train.StopAtStepHook(last_step=FLAGS["steps"]),
        tf.train.LoggingTensorHook(values, every_n_iter=400),
        tf.train.NanTensorHook(loss),
    ]
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=FLAGS["dir"],
        hooks=hooks,
        save_checkpoint_steps=1200,
        save_summaries_steps=100,
        log_step_count_steps=500,
    ) as session:
        while not session.should_stop():
            session.run(train_op)
