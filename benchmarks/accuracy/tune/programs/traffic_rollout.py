"""Multi-step forecasting of synthetic traffic counters (graph of loop detectors).

The forecaster is trained on its own roll-outs.  The horizon starts at 2 and is
raised by 2 each stage ("curriculum"), following the usual recipe for
autoregressive emulators: short roll-outs first, long ones when it is stable.
"""

import csv
import os
import tempfile
import time

import numpy as np
import tensorflow as tf

N_NODES = 96
HIDDEN = 320
BATCH = 64
CONTEXT = 6
STAGES = [2, 4, 6, 8, 10, 12]
STEPS_PER_STAGE = 430


def simulate(hours=6000, seed=0):
    rng = np.random.RandomState(seed)
    mix = rng.rand(N_NODES, N_NODES) * (rng.rand(N_NODES, N_NODES) < 0.06)
    mix += np.eye(N_NODES)
    mix /= mix.sum(1, keepdims=True)
    phase = rng.uniform(0, 4, N_NODES)
    x = rng.randn(N_NODES)
    out = np.empty((hours, N_NODES), np.float32)
    for t in range(hours):
        daily = np.sin(2 * np.pi * (t + phase) / 24.0)
        x = 0.92 * mix @ x + 0.35 * daily + 0.05 * rng.randn(N_NODES)
        out[t] = x
    return (out - out.mean(0)) / out.std(0)


class Forecaster(tf.Module):
    def __init__(self):
        super().__init__()
        g = tf.random.Generator.from_seed(12)

        def dense(n_in, n_out):
            return (
                tf.Variable(g.normal([n_in, n_out], stddev=n_in**-0.5)),
                tf.Variable(tf.zeros([n_out])),
            )

        self.l1 = dense(CONTEXT * N_NODES, HIDDEN)
        self.l2 = dense(HIDDEN, HIDDEN)
        self.l3 = dense(HIDDEN, N_NODES)

    def __call__(self, window):
        last = window[:, -1]
        h = tf.reshape(window, [tf.shape(window)[0], CONTEXT * N_NODES])
        h = tf.nn.silu(h @ self.l1[0] + self.l1[1])
        h = h + tf.nn.silu(h @ self.l2[0] + self.l2[1])
        return last + h @ self.l3[0] + self.l3[1]


model = Forecaster()
optimizer = tf.keras.optimizers.Adam(5e-4)
optimizer.build(model.trainable_variables)


@tf.function(
    input_signature=[
        tf.TensorSpec([None, CONTEXT, N_NODES]),
        tf.TensorSpec([None, None, N_NODES]),
        tf.TensorSpec([], tf.int32),
    ]
)
def train_step(window, future, horizon):
    with tf.GradientTape() as tape:
        loss = 0.0
        for k in tf.range(horizon):
            pred = model(window)
            loss += tf.reduce_mean(tf.square(pred - future[:, k]))
            window = tf.concat([window[:, 1:], pred[:, None]], axis=1)
            window.set_shape([None, CONTEXT, N_NODES])
        loss /= tf.cast(horizon, tf.float32)
    grads = tape.gradient(loss, model.trainable_variables)
    grads, norm = tf.clip_by_global_norm(grads, 1.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, norm


def sample_windows(series, horizon, rng):
    start = rng.randint(0, len(series) - CONTEXT - horizon, BATCH)
    idx = start[:, None] + np.arange(CONTEXT + horizon)
    chunk = series[idx]
    return chunk[:, :CONTEXT], chunk[:, CONTEXT:]


def main():
    workdir = tempfile.mkdtemp(prefix="traffic_")
    series = simulate()
    rng = np.random.RandomState(5)
    history, norms = [], []
    step = 0
    ckpt = tf.train.Checkpoint(model=model, optimizer=optimizer)
    log_file = open(os.path.join(workdir, "train.csv"), "w", newline="")
    writer = csv.writer(log_file)

    for stage, horizon in enumerate(STAGES):
        t0 = time.time()
        for _ in range(STEPS_PER_STAGE):
            window, future = sample_windows(series, horizon, rng)
            loss, norm = train_step(tf.constant(window), tf.constant(future), tf.constant(horizon))
            history.append(loss.numpy())
            norms.append(norm.numpy())
            writer.writerow([step, horizon, history[-1], norms[-1]])
            log_file.flush()
            step += 1
            if step % 50 == 0:
                print(
                    f"step {step:5d}  horizon {horizon:2d}  "
                    f"loss {np.mean(history[-50:]):.4f}  "
                    f"all {np.mean(history):.4f}  |g| {np.mean(norms):.2f}"
                )
        ckpt.save(os.path.join(workdir, f"stage{stage}"))
        print(f"stage {stage} done, {(time.time() - t0) / STEPS_PER_STAGE * 1e3:.1f} ms/step")
    log_file.close()


if __name__ == "__main__":
    main()
