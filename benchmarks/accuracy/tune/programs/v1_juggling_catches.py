"""Where and when will a juggler catch the ball? (graph mode, sessions)

A recurrent net reads the camera track of a thrown ball and says the place and
time of the catch. It begins with short tracks and goes on to longer ones.
"""

import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()

HIDDEN = 80
BATCH = 64
STAGES = [(8, 90), (16, 90), (32, 90), (56, 90)]
LOG_EVERY = 30
SEED = 17


def throw_balls(rng, n, frames):
    """Tracks (x, y, spin marker) from the throw on; the target is the catch."""
    vx = rng.uniform(-1.5, 1.5, (n, 1))
    vy = rng.uniform(2.0, 5.0, (n, 1))
    drag = rng.uniform(0.0, 0.3, (n, 1))
    spin = rng.uniform(5, 20, (n, 1))
    catch = 2 * vy / 9.81
    t = np.linspace(0, 0.6, frames)[None] * catch
    slow = 1 - drag * t
    track = np.stack([vx * t * slow, vy * t - 4.905 * t**2, np.sin(spin * t)], axis=-1)
    track += rng.normal(0, 0.02, track.shape)
    goal = np.concatenate([vx * catch * (1 - drag * catch), catch], axis=1)
    return track.astype(np.float32), goal.astype(np.float32)


def gru(inputs, size, scope):
    """inputs: time, batch, features."""
    width = int(inputs.shape[-1])
    with tf.variable_scope(scope):
        w = tf.get_variable("w", [width + size, 2 * size])
        b = tf.get_variable("b", [2 * size], initializer=tf.ones_initializer())
        wc = tf.get_variable("wc", [width + size, size])
        bc = tf.get_variable("bc", [size], initializer=tf.zeros_initializer())

    def cell(h, x):
        r, z = tf.split(tf.sigmoid(tf.matmul(tf.concat([x, h], 1), w) + b), 2, axis=1)
        c = tf.tanh(tf.matmul(tf.concat([x, r * h], 1), wc) + bc)
        return z * h + (1 - z) * c

    start = tf.zeros(tf.stack([tf.shape(inputs)[1], size]))
    return tf.scan(cell, inputs, initializer=start)


def build():
    track = tf.placeholder(tf.float32, [None, None, 3], "track")
    goal = tf.placeholder(tf.float32, [None, 2], "goal")
    h = tf.transpose(track, [1, 0, 2])
    h.set_shape([None, None, 3])
    h = gru(h, HIDDEN, "lower")
    h.set_shape([None, None, HIDDEN])
    h = gru(h, HIDDEN, "upper")
    with tf.variable_scope("out"):
        w = tf.get_variable("w", [HIDDEN, 2])
        guess = tf.matmul(h[-1], w)
    loss = tf.reduce_mean(tf.square(guess - goal))
    lr = tf.placeholder_with_default(2e-3, [], "lr")
    optimizer = tf.train.AdamOptimizer(lr)
    grads, variables = zip(*optimizer.compute_gradients(loss))
    grads, _ = tf.clip_by_global_norm(grads, 1.0)
    step = tf.train.get_or_create_global_step()
    train = optimizer.apply_gradients(zip(grads, variables), global_step=step)
    miss = tf.reduce_mean(tf.abs(guess - goal), axis=0)
    return track, goal, lr, loss, miss, train, step


def main():
    rng = np.random.default_rng(SEED)
    tf.set_random_seed(SEED)
    track, goal, lr, loss, miss, train, global_step = build()
    saver = tf.train.Saver(max_to_keep=2)
    init = tf.global_variables_initializer()
    folder = tempfile.mkdtemp(prefix="juggling_")
    tf.get_default_graph().finalize()

    with tf.Session() as sess:
        sess.run(init)
        for stage, (frames, steps) in enumerate(STAGES):
            test_track, test_goal = throw_balls(rng, 128, frames)
            for i in range(1, steps + 1):
                a, b = throw_balls(rng, BATCH, frames)
                _, value = sess.run([train, loss], {track: a, goal: b, lr: 2e-3 * 0.8**stage})
                if i % LOG_EVERY == 0:
                    off = sess.run(miss, {track: test_track, goal: test_goal})
                    print(
                        f"stage {stage} ({frames} frames) step {i}: loss {value:.4f}, "
                        f"off by {off[0]:.3f} m and {off[1]:.3f} s"
                    )
            saver.save(sess, os.path.join(folder, "net"), global_step)
        print("steps in all:", sess.run(global_step))


if __name__ == "__main__":
    main()
