"""Model-agnostic meta-learning on sine waves. First-order updates at first, exact second-order
updates afterwards. Parameters of all tasks of a meta-batch are kept in stacked tensors."""

import time

import numpy as np
import tensorflow as tf

SEED = 13
META_BATCH = 64
SHOTS = 10
QUERY = 20
HIDDEN = 128
INNER_LR = 0.01
INNER_STEPS = 3
META_STEPS = 2600
FIRST_ORDER_STEPS = 800
EVAL_EVERY = 400

tf.random.set_seed(SEED)
rng = np.random.default_rng(SEED)


def sample_tasks(n, spread=1.0):
    amplitude = rng.uniform(0.1, 1 + 4 * spread, (n, 1, 1))
    phase = rng.uniform(0, np.pi * spread, (n, 1, 1))
    x = rng.uniform(-5, 5, (n, SHOTS + QUERY, 1))
    y = amplitude * np.sin(x - phase)
    x, y = x.astype(np.float32), y.astype(np.float32)
    return x[:, :SHOTS], y[:, :SHOTS], x[:, SHOTS:], y[:, SHOTS:]


def init_parameters():
    sizes = [1, HIDDEN, HIDDEN, 1]
    out = []
    for fan_in, fan_out in zip(sizes[:-1], sizes[1:]):
        w = tf.random.truncated_normal([fan_in, fan_out], stddev=(2.0 / fan_in) ** 0.5)
        out += [tf.Variable(w), tf.Variable(tf.zeros([fan_out]))]
    return out


meta = init_parameters()
schedule = tf.keras.optimizers.schedules.PiecewiseConstantDecay(
    [FIRST_ORDER_STEPS, 2000], [2e-3, 1e-3, 3e-4]
)
meta_optimizer = tf.keras.optimizers.Adam(schedule)
meta_optimizer.build(meta)


def forward(params, x):
    h = x
    for i in range(0, len(params), 2):
        h = tf.matmul(h, params[i]) + params[i + 1]
        if i < len(params) - 2:
            h = tf.nn.relu(h)
    return h


def per_task_mse(params, x, y):
    return tf.reduce_mean(tf.square(forward(params, x) - y), axis=[1, 2])


def broadcast(params, n):
    stacked = []
    for p in params:
        p = p[tf.newaxis] if len(p.shape) == 2 else p[tf.newaxis, tf.newaxis]
        stacked.append(tf.tile(p, [n] + [1] * (len(p.shape) - 1)))
    return stacked


def adapt(fast, x, y, steps, second_order):
    for _ in range(steps):
        with tf.GradientTape() as inner:
            inner.watch(fast)
            loss = tf.reduce_sum(per_task_mse(fast, x, y))
        grads = inner.gradient(loss, fast)
        if not second_order:
            grads = [tf.stop_gradient(g) for g in grads]
        fast = [p - INNER_LR * g for p, g in zip(fast, grads)]
    return fast


def meta_update(xs, ys, xq, yq, second_order):
    with tf.GradientTape() as outer:
        fast = adapt(broadcast(meta, META_BATCH), xs, ys, INNER_STEPS, second_order)
        loss = tf.reduce_mean(per_task_mse(fast, xq, yq))
    grads = outer.gradient(loss, meta)
    grads, _ = tf.clip_by_global_norm(grads, 10.0)
    meta_optimizer.apply_gradients(zip(grads, meta))
    return loss


@tf.function
def first_order_step(xs, ys, xq, yq):
    return meta_update(xs, ys, xq, yq, second_order=False)


@tf.function
def second_order_step(xs, ys, xq, yq):
    return meta_update(xs, ys, xq, yq, second_order=True)


@tf.function
def adaptation_curve(xs, ys, xq, yq):
    fast = broadcast(meta, 200)
    curve = [tf.reduce_mean(per_task_mse(fast, xq, yq))]
    for _ in range(10):
        fast = adapt(fast, xs, ys, 1, second_order=False)
        curve.append(tf.reduce_mean(per_task_mse(fast, xq, yq)))
    return tf.stack(curve)


held_out = [tf.constant(a) for a in sample_tasks(200)]
started = time.time()
recent = []
for step in range(1, META_STEPS + 1):
    spread = min(1.0, 0.4 + 0.6 * step / 600)
    tasks = sample_tasks(META_BATCH, spread)
    if step <= FIRST_ORDER_STEPS:
        recent.append(float(first_order_step(*tasks)))
    else:
        recent.append(float(second_order_step(*tasks)))
    if step % EVAL_EVERY == 0:
        curve = adaptation_curve(*held_out).numpy()
        print(
            f"step {step} query mse {np.mean(recent):.3f} held out: "
            f"before {curve[0]:.3f} after 1 {curve[1]:.3f} after 10 {curve[10]:.3f} "
            f"[{time.time() - started:.1f}s]"
        )
        recent = []
