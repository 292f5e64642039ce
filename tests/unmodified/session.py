"""A session of TensorFlow 1 to whose graph the loop adds operations."""

import numpy as np
import tensorflow.compat.v1 as tf

# tbslow: import tbslow; tbslow.start("logs")

tf.disable_v2_behavior()
tf.set_random_seed(6)
x = tf.placeholder(tf.float32, [None, 4])
weights = tf.get_variable("weights", [4, 1], initializer=tf.zeros_initializer())
loss = tf.reduce_mean((tf.matmul(x, weights) - tf.reduce_sum(x, 1, keepdims=True)) ** 2)
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
rng = np.random.RandomState(6)


def fetches():
    noise = tf.add_n([tf.random_normal([1], seed=6) for _ in range(3)])
    return train, loss + 0.0 * noise[0]


with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(120):
        batch = rng.normal(size=(16, 4)).astype("float32")
        # tbslow: with tbslow.summary.step(): _, value = session.run(fetches(), {x: batch})
        _, value = session.run(fetches(), {x: batch})
    print(f"loss {value:.6f}", len(tf.get_default_graph().get_operations()))
    print(session.run(weights).ravel().round(5).tolist())
