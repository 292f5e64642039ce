# Stochastic gradient Langevin dynamics for a small Bayesian network that tells
# the soil class (ten of them) from probe readings. Plain functions over plain buffers.
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import sys
import time

import numpy as np
import tensorflow as tf

N_TRAIN = 8000
N_TEST = 1500
N_IN = 24
N_HIDDEN = 96
N_OUT = 10
BATCH = 128
N_STEPS = 2200
BURN_IN = 400
REPORT = 200
PRIOR_PRECISION = 1.0

X_SPEC = tf.TensorSpec([None, N_IN], tf.float32)
Y_SPEC = tf.TensorSpec([None], tf.int32)
S_SPEC = tf.TensorSpec([], tf.float32)

theta = []


def make_readings(seed, n):
    fixed = np.random.default_rng(77)
    centre = fixed.normal(0.0, 1.0, (N_OUT, 6))
    mix = fixed.normal(0.0, 0.7, (6, N_IN))
    rng = np.random.default_rng(seed)
    y = rng.integers(0, N_OUT, n)
    z = centre[y] + rng.normal(0.0, 0.55, (n, 6))
    x = np.tanh(z @ mix) + rng.normal(0.0, 0.2, (n, N_IN))
    return x.astype(np.float32), y.astype(np.int32)


def init_params(seed):
    rng = np.random.default_rng(seed)
    sizes = [N_IN, N_HIDDEN, N_HIDDEN, N_OUT]
    for a, b in zip(sizes[:-1], sizes[1:]):
        theta.append(tf.Variable(rng.normal(0.0, a**-0.5, (a, b)).astype(np.float32)))
        theta.append(tf.Variable(np.zeros(b, np.float32)))


def forward(x):
    h = tf.tanh(x @ theta[0] + theta[1])
    h = tf.tanh(h @ theta[2] + theta[3])
    return h @ theta[4] + theta[5]


@tf.function(input_signature=[X_SPEC, Y_SPEC, S_SPEC])
def langevin_step(x, y, eps):
    with tf.GradientTape() as tape:
        nll = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, forward(x)))
        prior = 0.5 * PRIOR_PRECISION * tf.add_n([tf.reduce_sum(p * p) for p in theta])
        energy = N_TRAIN * nll + prior
    grads = tape.gradient(energy, theta)
    for p, g in zip(theta, grads):
        p.assign_sub(0.5 * eps * g - tf.sqrt(eps) * tf.random.normal(p.shape))
    return nll


@tf.function(input_signature=[X_SPEC])
def class_probabilities(x):
    return tf.nn.softmax(forward(x))


def step_size(k):
    return 1.2e-5 * (1.0 + k / 800.0) ** -0.55


def score(mean, y):
    p = mean.numpy()
    nll = -np.log(p[np.arange(len(y)), y] + 1e-9).mean()
    return nll, (p.argmax(1) == y).mean()


def run_chain(x, y, xt, yt):
    xt_t = tf.constant(xt)
    rng = np.random.default_rng(8)
    draws = []
    last = None
    acc = 0.0
    t0 = time.time()
    for k in range(1, N_STEPS + 1):
        rows = rng.integers(0, N_TRAIN, BATCH)
        nll = langevin_step(x[rows], y[rows], step_size(k))
        acc += float(nll)
        if k > BURN_IN and k % 2 == 0:
            draws.append(class_probabilities(xt_t))
            mean = tf.reduce_mean(tf.stack(draws), axis=0)
            moved = float("nan") if last is None else float(tf.reduce_max(tf.abs(mean - last)))
            last = mean
        if k % REPORT == 0:
            line = "step %5d  minibatch nll %.4f" % (k, acc / REPORT)
            if last is not None:
                line += "  ensemble nll %.4f acc %.4f moved %.5f" % (*score(last, yt), moved)
            sys.stdout.write(line + "  [%.1f s]\n" % (time.time() - t0))
            sys.stdout.flush()
            acc = 0.0
    return last


def main():
    tf.random.set_seed(3)
    x, y = make_readings(1, N_TRAIN)
    xt, yt = make_readings(2, N_TEST)
    init_params(5)
    mean = run_chain(x, y, xt, yt)
    single = score(class_probabilities(tf.constant(xt)), yt)
    print("last draw  nll %.4f acc %.4f" % single)
    print("posterior  nll %.4f acc %.4f" % score(mean, yt))
    return 0


if __name__ == "__main__":
    sys.exit(main())
