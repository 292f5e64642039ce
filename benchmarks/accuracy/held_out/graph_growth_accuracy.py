"""The accuracy under attack is built anew after each epoch of a TensorFlow 1 loop.

After report 4 of the catalogue (cleverhans#552): a tutorial whose every epoch takes longer.
"""

import time

import injector
import numpy as np
import ordinary
import tensorflow as tf

import tbslow

EPOCHS = 50
STEPS_OF_EPOCH = 10
CLASSES = 10


def main(logdir, truth, healthy):
    v1 = tf.compat.v1
    random = np.random.default_rng(3)
    with tf.Graph().as_default(), v1.Session() as session, tbslow.start(logdir):
        hidden = v1.get_variable("hidden", [ordinary.FEATURES, 512])
        out = v1.get_variable("out", [512, CLASSES])
        images = v1.placeholder(tf.float32, [None, ordinary.FEATURES])
        labels = v1.placeholder(tf.int64, [None])

        def logits(x):
            return tf.matmul(tf.nn.relu(tf.matmul(x, hidden)), out)

        def loss(x):
            return tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits(x))
            )

        def accuracy_under_attack():
            attacked = images
            for _ in range(3):
                attacked += 0.02 * tf.sign(tf.gradients(loss(attacked), attacked)[0])
            right = tf.equal(tf.argmax(logits(attacked), axis=1), labels)
            return tf.reduce_mean(tf.cast(right, tf.float32))

        train = v1.train.GradientDescentOptimizer(0.01).minimize(loss(images))
        accuracy = accuracy_under_attack()
        session.run(v1.global_variables_initializer())

        def batch():
            x = random.normal(size=(ordinary.BATCH, ordinary.FEATURES))
            return {images: x, labels: random.integers(0, CLASSES, ordinary.BATCH)}

        for epoch in range(EPOCHS):
            for _ in range(STEPS_OF_EPOCH):
                with tbslow.summary.step():
                    session.run(train, batch())
            tbslow.summary.epoch(epoch)
            began = time.perf_counter()
            if not healthy:
                accuracy = accuracy_under_attack()
            session.run(accuracy, batch())
            truth.add((epoch + 1) * STEPS_OF_EPOCH - 1, time.perf_counter() - began)
        for _ in range(9):
            began = time.perf_counter()
            session.run(accuracy, batch())
            truth.add(0, time.perf_counter() - began, defect=False)


if __name__ == "__main__":
    injector.run("graph_growth", main)
