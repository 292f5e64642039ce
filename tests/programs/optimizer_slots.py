"""Each new user gets a variable of its own, and each step updates those of all users."""

import time

import injector
import ordinary
import tensorflow as tf

import tbslow

STEPS = 400


def main(logdir, truth, healthy):
    net = ordinary.model()
    users = [tf.Variable(tf.zeros([64])) for _ in range(4)]
    momentum = [tf.Variable(tf.zeros([64])) for _ in range(4)]
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    optimizer = tf.keras.optimizers.Adam(0.01)
    optimizer.build(users)
    del momentum
    with tbslow.start(logdir):
        for i, (x, y) in enumerate(tbslow.data(ordinary.dataset(STEPS))):
            with tbslow.summary.step():
                train_step(x, y)
                began = time.perf_counter()
                if i % 10 == 9 and not healthy:
                    users.append(tf.Variable(tf.zeros([64])))
                    state = optimizer.get_config()
                    optimizer = tf.keras.optimizers.Adam.from_config(state)
                    optimizer.build(users)
                with tbslow.summary.phase("optimizer"):
                    optimizer.apply_gradients([(tf.ones([64]), user) for user in users])
                truth.add(i, time.perf_counter() - began)
    truth.grows_from_first(9)


if __name__ == "__main__":
    injector.run("optimizer_state", main)
