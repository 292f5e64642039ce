"""Bayes-by-backprop regression of dose response curves.

Variational weights, several Monte Carlo draws a step, KL annealing; plain eager TF.
"""

import time
import numpy as np
import tensorflow as tf

rs = np.random.RandomState(17)
tf.random.set_seed(17)

settings = {
    "n": 8192,
    "features": 64,
    "hidden": 640,
    "schedule": [  # (epochs, batch, mc draws)
        (3, 256, 1),
        (2, 512, 2),
        (3, 1024, 4),
    ],
    "lr": 3e-3,
    "kl_warmup": 100,
    "noise": 0.15,
}


def make_data(n, d):
    X = rs.randn(n, d).astype("float32")
    ec50 = X[:, :8] @ rs.randn(8) * 0.3
    slope = 1 + np.abs(X[:, 8])
    dose = X[:, -1]
    y = 1 / (1 + np.exp(-slope * (dose - ec50))) + 0.2 * np.sin(X[:, 9] * X[:, 10])
    y += settings["noise"] * rs.randn(n)
    return X, y.astype("float32")[:, None]


class VariationalDense(tf.Module):
    def __init__(self, n_in, n_out, act=None):
        super().__init__()
        self.mu = tf.Variable(tf.random.normal([n_in, n_out]) / np.sqrt(n_in))
        self.rho = tf.Variable(tf.fill([n_in, n_out], -5.0))
        self.b = tf.Variable(tf.zeros([n_out]))
        self.act = act or (lambda z: z)

    def __call__(self, x):
        # local reparameterisation
        s2 = tf.square(tf.nn.softplus(self.rho))
        m = x @ self.mu + self.b
        v = tf.square(x) @ s2 + 1e-8
        return self.act(m + tf.sqrt(v) * tf.random.normal(tf.shape(m)))

    def kl(self):
        s = tf.nn.softplus(self.rho)
        return tf.reduce_sum(0.5 * (tf.square(s) + tf.square(self.mu)) - tf.math.log(s) - 0.5)


class BNN(tf.Module):
    def __init__(self, d, h):
        super().__init__()
        self.layers = [
            VariationalDense(d, h, tf.nn.silu),
            VariationalDense(h, h, tf.nn.silu),
            VariationalDense(h, 1),
        ]

    def __call__(self, x):
        for l in self.layers:
            x = l(x)
        return x

    def kl(self):
        return tf.add_n([l.kl() for l in self.layers])


def elbo_terms(net, x, y, draws, n_total, beta):
    xx = tf.tile(x, [draws, 1])
    yy = tf.tile(y, [draws, 1])
    nll = tf.reduce_mean(0.5 * tf.square((yy - net(xx)) / settings["noise"]))
    return nll + beta * net.kl() / n_total, nll


def evaluate(net, X, y, draws=8):
    f = np.stack([net(X).numpy() for _ in range(draws)])
    mean, sd = f.mean(0), np.sqrt(f.var(0) + settings["noise"] ** 2)
    rmse = np.sqrt(np.mean((mean - y) ** 2))
    cover = np.mean(np.abs(y - mean) < 1.645 * sd)
    return rmse, cover


def main():
    X, y = make_data(settings["n"], settings["features"])
    Xv, yv = X[-512:], y[-512:]
    X, y = X[:-512], y[:-512]
    net = BNN(settings["features"], settings["hidden"])
    opt = tf.keras.optimizers.Adam(settings["lr"])
    params = net.trainable_variables
    step, t0 = 0, time.time()
    for epochs, bs, draws in settings["schedule"]:
        print(f"-- batch {bs}, {draws} draw(s)")
        for ep in range(epochs):
            perm = rs.permutation(len(X))
            run = []
            for i in range(0, len(X) - bs + 1, bs):
                j = perm[i : i + bs]
                beta = min(1.0, step / settings["kl_warmup"])
                with tf.GradientTape() as tape:
                    loss, nll = elbo_terms(
                        net, tf.constant(X[j]), tf.constant(y[j]), draws, len(X), beta
                    )
                opt.apply_gradients(zip(tape.gradient(loss, params), params))
                run.append(nll.numpy())
                step += 1
            rmse, cover = evaluate(net, Xv, yv)
            print(
                f"   step {step:4d} nll {np.mean(run):.3f} beta {beta:.2f} | val rmse {rmse:.4f} 90%-cover {cover:.2f} | {time.time() - t0:.1f}s"
            )


if __name__ == "__main__":
    main()
