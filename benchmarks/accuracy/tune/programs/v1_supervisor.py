"""Regression in the way of old estimators: a model_fn, hooks, and a monitored session."""

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.disable_eager_execution()
tf1.logging.set_verbosity(tf1.logging.INFO)


def input_fn(batch_size):
    rng = np.random.RandomState(3)
    x = rng.uniform(-1, 1, (5000, 16)).astype(np.float32)
    y = (x[:, :1] * x[:, 1:2] + np.sin(3 * x[:, 2:3])).astype(np.float32)
    data = tf1.data.Dataset.from_tensor_slices((x, y)).shuffle(5000).repeat().batch(batch_size)
    return tf1.data.make_one_shot_iterator(data.prefetch(4)).get_next()


def dense(x, units, name, activation=None):
    with tf1.variable_scope(name):
        w = tf1.get_variable("w", [x.shape[-1], units])
        b = tf1.get_variable("b", [units], initializer=tf1.zeros_initializer())
        y = tf.matmul(x, w) + b
        return activation(y) if activation else y


def model_fn(features, labels):
    h = dense(features, 200, "h1", tf.nn.relu)
    h = dense(h, 200, "h2", tf.nn.relu)
    loss = tf.reduce_mean(tf.square(dense(h, 1, "out") - labels))
    step = tf1.train.get_or_create_global_step()
    rate = tf1.train.exponential_decay(0.005, step, 500, 0.7)
    train_op = tf1.train.AdamOptimizer(rate).minimize(loss, global_step=step)
    tf1.summary.scalar("loss", loss)
    return loss, train_op


def main():
    loss, train_op = model_fn(*input_fn(64))
    hooks = [
        tf1.train.StopAtStepHook(last_step=4000),
        tf1.train.NanTensorHook(loss),
        tf1.train.LoggingTensorHook({"loss": loss}, every_n_iter=500),
    ]
    with tf1.train.MonitoredTrainingSession(
        checkpoint_dir="model", hooks=hooks, save_checkpoint_steps=1000, save_summaries_steps=100
    ) as session:
        while not session.should_stop():
            session.run(train_op)


main()
