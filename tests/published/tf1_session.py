"""A graph, placeholders and a session, with an input pipeline, summaries and a saver.

After the TensorFlow 1 guides "Low level introduction" and "Save and restore".
"""

import glob

import numpy as np
import tensorflow.compat.v1 as tf

# tbslow: import tbslow; tbslow.start("logs")

tf.disable_v2_behavior()
tf.set_random_seed(9)
rng = np.random.RandomState(9)
features = rng.normal(size=(256, 4)).astype("float32")
answers = features @ np.float32([[1.0], [-2.0], [0.5], [3.0]])

dataset = tf.data.Dataset.from_tensor_slices((features, answers)).shuffle(256, seed=9).batch(32)
iterator = tf.data.make_initializable_iterator(dataset)
x, y = iterator.get_next()
rate = tf.placeholder(tf.float32, shape=[], name="learning_rate")
with tf.variable_scope("linear"):
    weights = tf.get_variable("weights", [4, 1], initializer=tf.zeros_initializer())
    bias = tf.get_variable("bias", [1], initializer=tf.zeros_initializer())
loss = tf.losses.mean_squared_error(labels=y, predictions=tf.matmul(x, weights) + bias)
global_step = tf.train.get_or_create_global_step()
train = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=global_step)
tf.summary.scalar("loss", loss)
summaries = tf.summary.merge_all()
saver = tf.train.Saver()

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    writer = tf.summary.FileWriter("graph", sess.graph)
    run = [train, loss, summaries, global_step], {rate: 0.1}
    for epoch in range(4):
        sess.run(iterator.initializer)
        while True:
            try:
                # tbslow: with tbslow.summary.step(): _, value, summary, step = sess.run(*run)
                _, value, summary, step = sess.run(*run)
                writer.add_summary(summary, step)
            except tf.errors.OutOfRangeError:
                break
        print(f"epoch {epoch}: step {step}, loss {value:.6f}")
    print("saved:", saver.save(sess, "./model.ckpt", global_step=global_step))
    writer.close()

with tf.Session() as sess:
    saver.restore(sess, tf.train.latest_checkpoint("."))
    print("restored:", np.round(sess.run([weights, bias])[0].ravel(), 4).tolist())
    print("operations:", len(tf.get_default_graph().get_operations()))
found = list(tf.train.summary_iterator(glob.glob("graph/*")[0]))
losses = [value for event in found for value in event.summary.value if value.tag == "loss"]
print("summaries:", len(losses))
