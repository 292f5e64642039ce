"""Every 10 steps a new optimizer is made "to reset the learning rate", with all its slots."""

import injector
import ordinary
import tensorflow as tf

import tbslow

STEPS = 400


def main(logdir, truth, healthy):
    net = ordinary.model()
    optimizer = tf.keras.optimizers.Adam(0.001)
    with tbslow.start(logdir):
        for i, (x, y) in enumerate(tbslow.data(ordinary.dataset(STEPS))):
            with tbslow.summary.step():
                if i and i % 10 == 0:
                    if healthy:
                        optimizer.learning_rate = 0.001 * 0.95 ** (i // 10)
                    else:
                        with truth.part(i):
                            optimizer = tf.keras.optimizers.Adam(0.001 * 0.95 ** (i // 10))
                            optimizer.build(net.trainable_variables)
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean((net(x) - y) ** 2)
                gradients = tape.gradient(loss, net.trainable_variables)
                optimizer.apply_gradients(zip(gradients, net.trainable_variables, strict=True))


if __name__ == "__main__":
    injector.run("optimizer_state", main)
