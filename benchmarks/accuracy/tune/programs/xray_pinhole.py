"""Blind deconvolution of pinhole X-ray frames: first the scene, then the kernel, and so on.

TF1 graph code from 2017, kept alive with tf.compat.v1.
"""

import time

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()

SIZE = 320
FRAMES = 6
KSIZE = 9
ROUNDS = 16
SCENE_STEPS = 12
KERNEL_STEPS = 6
BURST_AT = 8


def simulate(rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    scene = np.zeros((FRAMES, SIZE, SIZE), np.float32)
    for f in range(FRAMES):
        for _ in range(12):
            cx, cy = rng.integers(10, SIZE - 10, 2)
            w, h = rng.integers(4, 28, 2)
            scene[f] += rng.uniform(0.2, 1) * ((abs(xx - cx) < w) & (abs(yy - cy) < h))
    r = np.mgrid[-4:5, -4:5]
    kernel = np.exp(-(r[0] ** 2 / 6.0 + (r[1] - 1) ** 2 / 3.0))
    kernel = (kernel / kernel.sum()).astype(np.float32)
    pad = KSIZE // 2
    padded = np.pad(scene, ((0, 0), (pad, pad), (pad, pad)))
    blurred = sum(
        kernel[i, j] * padded[:, i : i + SIZE, j : j + SIZE]
        for i in range(KSIZE)
        for j in range(KSIZE)
    )
    noisy = blurred + 0.01 * rng.normal(size=blurred.shape)
    return scene, kernel, noisy.astype(np.float32)


def build_graph(noisy):
    data = tf.constant(noisy[..., None], name="frames")
    scene = tf.get_variable("scene", initializer=noisy[..., None])
    flat = np.zeros(KSIZE * KSIZE, np.float32)
    logits = tf.get_variable("kernel_logits", initializer=flat)
    kernel = tf.reshape(tf.nn.softmax(logits), [KSIZE, KSIZE, 1, 1])
    pred = tf.nn.conv2d(scene, kernel, strides=[1, 1, 1, 1], padding="SAME")
    fidelity = tf.reduce_mean(tf.square(pred - data))
    dx = scene[:, 1:] - scene[:, :-1]
    dy = scene[:, :, 1:] - scene[:, :, :-1]
    tv = tf.reduce_mean(tf.sqrt(dx**2 + 1e-4)) + tf.reduce_mean(tf.sqrt(dy**2 + 1e-4))
    loss = fidelity + 2e-3 * tv
    scene_op = tf.train.AdamOptimizer(0.02, name="scene_adam").minimize(loss, var_list=[scene])
    kernel_op = tf.train.AdamOptimizer(0.05, name="kernel_adam").minimize(
        fidelity, var_list=[logits]
    )
    return {
        "scene": scene,
        "kernel": kernel,
        "loss": loss,
        "scene_op": scene_op,
        "kernel_op": kernel_op,
    }


def report(sess, graph, truth, true_kernel, round_no, loss):
    s, k = sess.run([graph["scene"], graph["kernel"]])
    psnr = -10 * np.log10(np.mean((s[..., 0] - truth) ** 2))
    kerr = np.abs(k[:, :, 0, 0] - true_kernel).sum()
    print("round %2d  loss %.6f  psnr %.2f dB  kernel err %.3f" % (round_no, loss, psnr, kerr))


def main():
    rng = np.random.default_rng(1895)
    tf.set_random_seed(1895)
    truth, true_kernel, noisy = simulate(rng)
    graph = build_graph(noisy)
    cfg = tf.ConfigProto(log_device_placement=False)
    begin = time.time()
    with tf.Session(config=cfg) as sess:
        sess.run(tf.global_variables_initializer())
        for r in range(ROUNDS):
            # the kernel gets more room once the scene is sharp
            n_kernel = KERNEL_STEPS if r < BURST_AT else 3 * KERNEL_STEPS
            for _ in range(SCENE_STEPS):
                _, loss = sess.run([graph["scene_op"], graph["loss"]])
            for _ in range(n_kernel):
                _, loss = sess.run([graph["kernel_op"], graph["loss"]])
            report(sess, graph, truth, true_kernel, r, loss)
    print("done in %.2f s" % (time.time() - begin))


if __name__ == "__main__":
    main()
