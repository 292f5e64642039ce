"""Regress the dominant swell period from raw heave records of a wave buoy.

After a burn-in the iterates are averaged (Polyak-Ruppert) and the averaged
network is the one that goes into the report.
"""

import numpy as np
import tensorflow as tf

RECORD = 128
BATCH = 64
STEPS = 1800
BURN_IN = 500
EVERY = 4


def heave_records(n, rng):
    t = np.arange(RECORD) * 0.5
    period = rng.uniform(5.0, 18.0, n)
    phase = rng.uniform(0, 2 * np.pi, n)
    amp = rng.uniform(0.5, 3.0, n)
    x = amp[:, None] * np.sin(2 * np.pi * t[None] / period[:, None] + phase[:, None])
    chop_p = rng.uniform(1.5, 4.0, n)
    x += 0.5 * np.sin(2 * np.pi * t[None] / chop_p[:, None] + rng.uniform(0, 6, n)[:, None])
    x += rng.normal(0, 0.3, x.shape)
    return x.astype("float32"), period.astype("float32")


class Regressor(tf.Module):
    def __init__(self, widths=(384, 384, 192)):
        super().__init__()
        rng = np.random.default_rng(4)
        self.ws, self.bs = [], []
        last = RECORD
        for k, w in enumerate(tuple(widths) + (1,)):
            self.ws.append(
                tf.Variable(
                    rng.normal(0, np.sqrt(2 / last), (last, w)).astype("float32"), name=f"w{k}"
                )
            )
            self.bs.append(tf.Variable(np.zeros(w, "float32"), name=f"b{k}"))
            last = w

    def __call__(self, x):
        h = x
        for w, b in zip(self.ws[:-1], self.bs[:-1]):
            h = tf.nn.silu(h @ w + b)
        return (h @ self.ws[-1] + self.bs[-1])[:, 0]


class IterateAverage:
    """Average of the parameters seen since the burn-in."""

    def __init__(self, variables):
        self.variables = list(variables)
        self.seen = []
        self.value = None

    def add(self):
        self.seen.append([v.numpy() for v in self.variables])
        self.value = [np.mean(ws, axis=0) for ws in zip(*self.seen)]

    def swapped_in(self, fn):
        kept = [v.numpy() for v in self.variables]
        for v, a in zip(self.variables, self.value):
            v.assign(a)
        out = fn()
        for v, k in zip(self.variables, kept):
            v.assign(k)
        return out


def main():
    tf.random.set_seed(0)
    rng = np.random.default_rng(0)
    x, y = heave_records(24_000, rng)
    xv, yv = heave_records(2_000, rng)
    xv = tf.constant(xv)
    net = Regressor()
    opt = tf.keras.optimizers.SGD(
        tf.keras.optimizers.schedules.CosineDecay(0.02, STEPS, alpha=0.3), momentum=0.9
    )
    variables = list(net.trainable_variables)
    opt.build(variables)

    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            err = net(xb) - (yb - 11.5) / 4.0
            loss = tf.reduce_mean(tf.where(tf.abs(err) < 1.0, 0.5 * err * err, tf.abs(err) - 0.5))
        grads = tape.gradient(loss, variables)
        grads, _ = tf.clip_by_global_norm(grads, 1.0)
        opt.apply_gradients(zip(grads, variables))
        return loss

    @tf.function
    def predict(xb):
        return net(xb) * 4.0 + 11.5

    def rmse():
        return float(np.sqrt(np.mean((predict(xv).numpy() - yv) ** 2)))

    data = iter(
        tf.data.Dataset.from_tensor_slices((x, y))
        .shuffle(24_000, seed=2)
        .repeat()
        .batch(BATCH, drop_remainder=True)
        .prefetch(4)
    )
    average = IterateAverage(variables)
    for n in range(1, STEPS + 1):
        xb, yb = next(data)
        loss = step(xb, yb)
        if n > BURN_IN and n % EVERY == 0:
            average.add()
        if n % 200 == 0:
            line = f"step {n:5d}  loss {float(loss):.4f}  rmse last {rmse():.3f} s"
            if average.value is not None:
                line += f"  averaged {average.swapped_in(rmse):.3f} s"
            print(line)


if __name__ == "__main__":
    main()
